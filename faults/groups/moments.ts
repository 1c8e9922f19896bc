/** Waybill dies again and again while many deliveries are at all moments of their attempts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isOpen } from '../../src/domain/delivery-state.ts';
import { withTemporal } from '../../test/support/temporal/workflows.ts';
import { readRows } from '../evidence.ts';
import type { EmbeddedFault, Fault, Scene } from '../fault.ts';
import { momentsMet } from '../moments-met.ts';
import type { EmbeddedStack } from '../stack/embedded.ts';
import type { BasicStack, Stack } from '../stack/stack.ts';

/** Each client sends one order after the other until the kill. */
const CLIENTS = 2;
/** The time from the first order to the kill, in milliseconds. */
const UNTIL_KILL_MS = [200, 700] as const;
/** Delays to a distant receiver and, in some rounds, Temporal and Postgres, in milliseconds: moments last longer. */
const TRANSIT_MS = 40;
const FAR_MS = { temporal: [0, 60], postgres: [0, 25] } as const;
/** Deliveries left by a kill have ended by then, in milliseconds: the policy's own waits are short. */
const PATIENCE_MS = 60_000;
const POLL_MS = 200;

interface Victim<S extends BasicStack> {
  kill(stack: S): Promise<void>;
  start(stack: S): Promise<void>;
  /** Delays calls of Temporal and Postgres, in milliseconds. */
  delay(stack: S, temporalMs: number, postgresMs: number): void;
}

function everyMoment<S extends BasicStack>(name: string, victim: Victim<S>): Fault<S> {
  return {
    group: 'kill',
    name,
    // Second attempts come soon.
    policies: ['few'],
    injectionPoints: ['orders'],
    async prepare({ receivers }) {
      const far = { type: 'CREATE_ORDER', outcome: 'delivered', transitMs: TRANSIT_MS } as const;
      await receivers.open('far', { ...far, status: () => 200 });
      await receivers.open('far and slow', {
        ...far,
        delayMs: 300,
        status: (number) => (number === 1 ? 503 : 200),
      });
    },
    // Once the usual orders have ended.
    settle: (scene) => killAgainAndAgain(scene, victim),
    finish: async ({ stack }) => victim.delay(stack, 0, 0),
  };
}

async function killAgainAndAgain<S extends BasicStack>(scene: Scene<S>, victim: Victim<S>): Promise<void> {
  const { stack, shop, receivers, logbook, random, kills } = scene;
  const ended = async () =>
    (await readRows(stack.sql, shop.eshopId)).deliveries.every(({ state }) => !isOpen(state));
  await withTemporal(await stack.temporalAddress(), async (client) => {
    for (let kill = 0; kill < kills; kill += 1) {
      victim.delay(stack, random.pick(FAR_MS.temporal), random.pick(FAR_MS.postgres));
      let orders = 0;
      let killed = false;
      const sendUntilKilled = async () => {
        while (!killed) {
          orders += 1;
          await shop.createOrder(`moment-${shop.eshopId}-${kill}-${orders}`);
        }
      };
      const sent = Promise.all(Array.from({ length: CLIENTS }, sendUntilKilled));
      // Awaited below.
      sent.catch(() => {});
      await sleep(random.integer(...UNTIL_KILL_MS));
      await victim.kill(stack);
      killed = true;
      const from = Date.now();
      const arrivals = receivers.all.flatMap((receiver) => receiver.arrivals);
      logbook.killedAt.push(...(await momentsMet(stack.sql, client, shop.eshopId, arrivals, from)));
      victim.delay(stack, 0, 0);
      await victim.start(stack);
      logbook.outages.push({ from, to: Date.now() });
      await sent;
      for (const end = Date.now() + PATIENCE_MS; !(await ended()) && Date.now() < end; ) await sleep(POLL_MS);
    }
  });
}

export const momentFaults: readonly (Fault | EmbeddedFault)[] = [
  everyMoment<Stack>('worker killed at every moment', {
    kill: ({ worker }) => worker.kill(),
    start: ({ worker }) => worker.start(),
    delay({ links }, temporalMs, postgresMs) {
      links.workerToTemporal.delay(temporalMs);
      links.workerToPostgres.delay(postgresMs);
    },
  }),
  {
    ...everyMoment<EmbeddedStack>('all roles in one, killed at every moment', {
      kill: ({ program }) => program.kill(),
      start: ({ program }) => program.start(),
      delay() {},
    }),
    embedded: true,
  },
];
