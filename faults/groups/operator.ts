/** An operator works in Temporal with Temporal's command line: what is requested there is carried out. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import * as v from 'valibot';
import { isOpen } from '../../src/domain/delivery-state.ts';
import type { ActionName } from '../../src/domain/operator-action.ts';
import { workflowIdOf } from '../../test/support/temporal/workflow-ids.ts';
import { until } from '../../test/support/until.ts';
import { deliveryWorkflowId } from '../../workflows/delivery-id.ts';
import { readRows } from '../evidence.ts';
import type { Fault, Scene } from '../fault.ts';
import type { Outcome } from '../logbook.ts';

const run = promisify(execFile);

/** Commands of an operator at the same time. */
const AT_ONCE = 4;

/** Whether a command is carried out. */
const succeeds = (command: Promise<unknown>) =>
  command.then(
    () => true,
    () => false,
  );

/** Runs `temporal …`, past the proxies; returns its output. */
export async function temporal({ stack }: Scene, ...args: string[]): Promise<string> {
  return (await run(stack.temporal.binary, [...args, '--address', stack.temporal.address])).stdout;
}

const pendingSchema = v.object({
  pendingActivities: v.array(
    v.object({ activityId: v.string(), activityType: v.object({ name: v.string() }) }),
  ),
});

/** Acts on the activity of a delivery's attempts, once its workflow waits for it: an ended one takes no command. */
async function toActivity(
  scene: Scene,
  verb: 'pause' | 'unpause' | 'reset',
  workflow: string,
): Promise<void> {
  await until(`the attempts to take "${verb}"`, async () => {
    const text = await temporal(scene, 'workflow', 'describe', '--workflow-id', workflow, '--output', 'json');
    const described = v.safeParse(pendingSchema, JSON.parse(text));
    const pending = described.success ? described.output.pendingActivities : [];
    const attempts = pending.find(({ activityType }) => activityType.name === 'attemptDelivery');
    if (attempts === undefined) return undefined;
    const args = ['--workflow-id', workflow, '--activity-id', attempts.activityId];
    return await succeeds(temporal(scene, 'activity', verb, ...args));
  });
}

const exists = (scene: Scene, workflow: string) =>
  succeeds(temporal(scene, 'workflow', 'describe', '--workflow-id', workflow));

/** Resets a workflow to its beginning, once Temporal is not busy with it. */
const restart = (scene: Scene, workflow: string) =>
  until('the workflow to be reset', () =>
    temporal(
      scene,
      ...['workflow', 'reset', '--workflow-id', workflow, '--type', 'FirstWorkflowTask', '--reason', 'trial'],
    ).then(
      () => true,
      (error: Error) => {
        if (!error.message.includes('Workflow is busy')) throw error;
        return undefined;
      },
    ),
  );

/** Ends the workflows of all open deliveries, while others are still in the queue. */
function allEnded(verb: 'terminate' | 'cancel'): Fault {
  return {
    group: 'operator',
    name: `all workflows ${verb === 'cancel' ? 'canceled' : 'terminated'}`,
    policies: ['scaled', 'few'],
    injectionPoints: ['orders', 'slow', 1],
    lasts: [500, 2_000],
    async inject(scene) {
      const { deliveries } = await readRows(scene.stack.sql, scene.shop.eshopId);
      await pLimit(AT_ONCE).map(
        deliveries.filter(({ state }) => isOpen(state)),
        async (row) => {
          const receiver = scene.receivers.all.find(({ webhookId }) => webhookId === row.webhookId);
          // Its attempt under way may still be accepted.
          scene.logbook.exceptions.set(row.id, ['canceled', receiver?.outcome ?? 'canceled']);
          await temporal(scene, 'workflow', verb, '--workflow-id', deliveryWorkflowId(row)).catch(() => {});
        },
      );
    },
  };
}

/** The delivery to the receiver that always fails, once it has failed. */
async function failingDelivery({ receivers }: Scene): Promise<string> {
  return await until('a first attempt that failed', async () => {
    const failing = receivers.all.find(({ kind }) => kind === 'failing');
    return failing?.arrivals.find(({ status }) => status !== null)?.deliveryId;
  });
}

/** Requests an operator action on a delivery; returns whether it was carried out. */
function asked(scene: Scene, action: ActionName, workflow: string): Promise<boolean> {
  const args = ['--workflow-id', workflow, '--name', action, '--input', '{"reason": "trial"}'];
  return succeeds(temporal(scene, 'workflow', 'update', 'execute', ...args));
}

interface OperatorCommand {
  readonly name: string;
  /** The operator's command; `workflow` is the id of the delivery's workflow. */
  readonly inject: (scene: Scene, workflow: string) => Promise<unknown>;
  readonly heal?: (scene: Scene, workflow: string) => Promise<unknown>;
  /** The possible outcomes of the delivery, if they do not follow from its receiver's behavior. */
  readonly outcomes?: readonly Outcome[];
  readonly requestsAttempt?: boolean;
  readonly policies?: Fault['policies'];
  readonly lasts?: Fault['lasts'];
}

function operatorFault({
  name,
  inject,
  heal,
  outcomes,
  requestsAttempt,
  policies = ['patient', 'scaled'],
  lasts = [500, 2_000],
}: OperatorCommand): Fault {
  const targets = new WeakMap<Scene, string>();
  return {
    group: 'operator',
    name,
    policies,
    injectionPoints: ['orders'],
    lasts,
    async inject(scene) {
      const id = await failingDelivery(scene);
      targets.set(scene, id);
      if (outcomes !== undefined) scene.logbook.exceptions.set(id, outcomes);
      if (requestsAttempt === true) scene.logbook.requestedAttempts.set(id, Date.now());
      // In a burst it gets its workflow in a moment.
      const workflow = await until('its workflow', async () => {
        const workflowId = await workflowIdOf(scene.stack.sql, id);
        return (await exists(scene, workflowId)) && workflowId;
      });
      await inject(scene, workflow);
    },
    async heal(scene) {
      const id = targets.get(scene);
      if (id !== undefined) await heal?.(scene, await workflowIdOf(scene.stack.sql, id));
    },
  };
}

export const operatorFaults: readonly Fault[] = [
  operatorFault({
    name: 'workflow terminated',
    inject: (scene, id) => temporal(scene, 'workflow', 'terminate', '--workflow-id', id, '--reason', 'trial'),
    outcomes: ['canceled'],
  }),
  operatorFault({
    name: 'workflow canceled',
    inject: (scene, id) => temporal(scene, 'workflow', 'cancel', '--workflow-id', id),
    outcomes: ['canceled'],
  }),
  operatorFault({
    name: 'workflow reset to its beginning',
    inject: restart,
    requestsAttempt: true,
  }),
  operatorFault({
    name: 'workflow reset after its end',
    policies: ['few'],
    async inject(scene, id) {
      await until(
        'the failure to be mailed',
        async () => scene.stack.mail.mailsTo(scene.shop.email).length > 1,
      );
      await restart(scene, id);
    },
    // Long enough to notice an attempt or a mail too many.
    lasts: [3_000, 4_000],
  }),
  operatorFault({
    name: 'activity paused, then unpaused',
    // With waits shorter than the pause: an attempt that fell due during it comes at once.
    policies: ['scaled'],
    inject: (scene, id) => toActivity(scene, 'pause', id),
    heal: (scene, id) => toActivity(scene, 'unpause', id),
  }),
  operatorFault({
    name: 'activity reset',
    // With more than two attempts: the second one waits in the workflow, not in its activity.
    policies: ['scaled'],
    inject: (scene, id) => toActivity(scene, 'reset', id),
    requestsAttempt: true,
  }),
  operatorFault({
    name: 'tried now',
    // It is refused while an attempt is under way.
    inject: (scene, id) => until('tryNow to be taken', () => asked(scene, 'tryNow', id)),
    requestsAttempt: true,
  }),
  operatorFault({
    name: 'held, then resumed',
    policies: ['scaled'],
    inject: (scene, id) => asked(scene, 'hold', id),
    heal: (scene, id) => asked(scene, 'resume', id),
  }),
  operatorFault({
    name: 'given up',
    inject: (scene, id) => until('giveUp to be taken', () => asked(scene, 'giveUp', id)),
    outcomes: ['canceled'],
  }),
  allEnded('terminate'),
  allEnded('cancel'),
];
