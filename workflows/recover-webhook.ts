/**
 * One recovery: it delivers again the events that a webhook did not get (docs/interface.md, L10). The progress is in
 * the database, so the recovery goes on step by step, even if processes die in between.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { ownSteps } from './own-steps.ts';
import {
  type RecoverWebhookInput,
  type RecoveryActivities,
  type RecoveryProgress,
  recoveryChangedSignal,
} from './recovery-types.ts';
import { recoveryProgressDetails } from './recovery-view.ts';

const recoveryChanged = defineSignal(recoveryChangedSignal);

/** The time between two steps, in milliseconds: deliveries created in a step reach the receiver before the next. */
const STEP_MS = 1_000;
/** While no delivery is left to create and none ends, the time between steps grows up to this, in milliseconds. */
const MAX_STEP_INTERVAL_MS = 60_000;

/** Recovers until everything has been delivered or has failed, or until it is canceled. */
export async function recoverWebhook(input: RecoverWebhookInput): Promise<RecoveryProgress> {
  const { recoveryId } = input;
  const { advanceRecovery, cancelRecovery } = ownSteps<RecoveryActivities>();
  let changes = 0;
  const show = (progress: RecoveryProgress) => {
    setCurrentDetails(recoveryProgressDetails(input, progress));
    return progress;
  };

  setHandler(
    recoveryChanged,
    () => {
      changes += 1;
    },
    { description: 'The recovery or its webhook changed: it looks at once. Carries no command.' },
  );

  try {
    return await run();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => show(await cancelRecovery(recoveryId)));
    throw error;
  }

  async function run(): Promise<RecoveryProgress> {
    let look = STEP_MS;
    let open = 0;
    for (;;) {
      const changesSeen = changes;
      const progress = show(await advanceRecovery(recoveryId));
      const { state, exhausted } = progress;
      if (state === 'completed' || state === 'canceled') return progress;
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof recoverWebhook>(input);
      if (state === 'paused') {
        await condition(() => changes > changesSeen);
        look = STEP_MS;
        continue;
      }
      look = exhausted && progress.open === open ? Math.min(MAX_STEP_INTERVAL_MS, look * 1.5) : STEP_MS;
      open = progress.open;
      await condition(() => changes > changesSeen, look, { summary: 'until the receiver has taken more' });
    }
  }
}
