/**
 * An operator at work in Temporal, with its own command line: what is ordered there happens.
 * @module
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { until } from '../../test/support/until.ts';
import { deliveryWorkflowId } from '../../workflows/delivery-types.ts';
import type { Fault, Scene } from '../fault.ts';
import type { Outcome } from '../ledger.ts';

const run = promisify(execFile);

/** `temporal …`, past the proxies. */
async function temporal({ stack }: Scene, ...args: string[]): Promise<void> {
  await run(stack.temporal.binary, [...args, '--address', stack.temporal.address]);
}

/** The delivery of the receiver that always fails, once it has failed. */
async function failingDelivery({ receivers }: Scene): Promise<string> {
  return await until('a first attempt that failed', async () => {
    const failing = receivers.all.find(({ kind }) => kind === 'failing');
    return failing?.arrivals.find(({ status }) => status !== null)?.deliveryId;
  });
}

interface Order {
  readonly name: string;
  /** What is typed; `workflow` names the delivery's workflow. */
  readonly inject: (scene: Scene, workflow: string) => Promise<void>;
  readonly heal?: (scene: Scene, workflow: string) => Promise<void>;
  /** What the delivery may come to, where it is not what its receiver makes of it. */
  readonly outcomes?: readonly Outcome[];
  /** An attempt is ordered by the first or by the second command. */
  readonly orders?: 'inject' | 'heal';
  readonly policies?: Fault['policies'];
  readonly lasts?: Fault['lasts'];
}

/** The activity that makes the attempts is the first of every workflow. */
const ATTEMPTS = ['--activity-id', '1'];

function ordered({
  name,
  inject,
  heal,
  outcomes,
  orders,
  policies = ['patient', 'scaled'],
  lasts = [500, 2_000],
}: Order): Fault {
  const targets = new WeakMap<Scene, string>();
  return {
    group: 'operator',
    name,
    policies,
    moments: ['orders'],
    lasts,
    async inject(scene) {
      const id = await failingDelivery(scene);
      targets.set(scene, id);
      if (outcomes !== undefined) scene.ledger.exceptions.set(id, outcomes);
      if (orders === 'inject') scene.ledger.ordered.set(id, Date.now());
      await inject(scene, deliveryWorkflowId(id));
    },
    async heal(scene) {
      const id = targets.get(scene) ?? '';
      if (orders === 'heal') scene.ledger.ordered.set(id, Date.now());
      await heal?.(scene, deliveryWorkflowId(id));
    },
  };
}

export const operatorFaults: readonly Fault[] = [
  ordered({
    name: 'workflow terminated',
    inject: (scene, id) => temporal(scene, 'workflow', 'terminate', '--workflow-id', id, '--reason', 'trial'),
    outcomes: ['canceled'],
  }),
  ordered({
    name: 'workflow canceled',
    inject: (scene, id) => temporal(scene, 'workflow', 'cancel', '--workflow-id', id),
    outcomes: ['canceled'],
  }),
  ordered({
    name: 'workflow reset to its beginning',
    inject: (scene, id) =>
      temporal(
        scene,
        'workflow',
        'reset',
        '--workflow-id',
        id,
        '--type',
        'FirstWorkflowTask',
        '--reason',
        'trial',
      ),
    orders: 'inject',
  }),
  ordered({
    name: 'workflow reset after its end',
    policies: ['few'],
    async inject(scene, id) {
      await until(
        'the failure to be mailed',
        async () => scene.stack.mail.mailsTo(scene.shop.email).length > 1,
      );
      await temporal(
        scene,
        'workflow',
        'reset',
        '--workflow-id',
        id,
        '--type',
        'FirstWorkflowTask',
        '--reason',
        'trial',
      );
    },
    // Time for an attempt or a mail too many.
    lasts: [3_000, 4_000],
  }),
  ordered({
    name: 'activity paused, then unpaused',
    inject: (scene, id) => temporal(scene, 'activity', 'pause', '--workflow-id', id, ...ATTEMPTS),
    heal: (scene, id) => temporal(scene, 'activity', 'unpause', '--workflow-id', id, ...ATTEMPTS),
    orders: 'heal',
  }),
  ordered({
    name: 'activity reset',
    inject: (scene, id) => temporal(scene, 'activity', 'reset', '--workflow-id', id, ...ATTEMPTS),
    orders: 'inject',
  }),
];
