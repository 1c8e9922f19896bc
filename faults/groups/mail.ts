/** Mail servers with real-life behavior: away, refusing for now, refusing for good, gone after accepting a mail. */
import type { Fault } from '../fault.ts';
import type { MailBehavior } from '../stack/mail-server.ts';

const POLICIES = ['hours', 'scaled'] as const;

function behaving(name: string, behavior: MailBehavior): Fault {
  return {
    group: 'mail',
    name,
    policies: POLICIES,
    lasts: [0, 1_000],
    async prepare({ stack }) {
      stack.mail.behave(behavior);
    },
  };
}

const away: Fault = {
  group: 'mail',
  name: 'server away',
  policies: POLICIES,
  injectionPoints: ['orders', 21],
  lasts: [1_000, 5_000],
  prepare: ({ stack }) => stack.mail.stop(),
  heal: ({ stack }) => stack.mail.start(),
};

const workerDies: Fault = {
  group: 'mail',
  name: 'worker killed with the mail on its way',
  policies: POLICIES,
  injectionPoints: ['orders'],
  lasts: [0, 1_000],
  async prepare({ stack, logbook }) {
    logbook.mailsMayRepeat = true;
    // Slow enough for the fault to meet it.
    stack.mail.behave(() => 'takeSlowly');
  },
  async inject({ stack, shop }) {
    await stack.mail.mailUnderWay(shop.email);
    await stack.worker.kill();
  },
  async heal({ stack }) {
    stack.mail.behave(() => 'take');
    await stack.worker.start();
  },
};

export const mailFaults: readonly Fault[] = [
  away,
  behaving('server defers twice (451)', (_to, attempt) => (attempt <= 2 ? 451 : 'take')),
  behaving('server refuses at first (550)', (_to, attempt) => (attempt <= 1 ? 550 : 'take')),
  behaving('server dies after its 250', () => 'takeAndDie'),
  workerDies,
];
