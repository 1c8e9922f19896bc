/**
 * One recovery: it delivers again the events that a webhook did not get (docs/interface.md, L10). The progress is in
 * the database, so the recovery goes on step by step, even if processes die in between.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { MAX_REASON_CHARS } from '../src/domain/operator-action.ts';
import { type RecoveryAction, recoveryActions } from '../src/domain/recovery.ts';
import { ownSteps } from './own-steps.ts';
import {
  type RecoverWebhookInput,
  type RecoveryActivities,
  type RecoveryProgress,
  type RecoveryRequest,
  recoveryChangedSignal,
} from './recovery-types.ts';
import { recoveryProgressDetails } from './recovery-view.ts';
import { reject } from './reject.ts';

const recoveryChanged = defineSignal(recoveryChangedSignal);
const progressQuery = defineQuery<RecoveryProgress | null>('progress');

/** The time between two steps, in milliseconds: deliveries created in a step reach the receiver before the next. */
const STEP_MS = 1_000;
/** While no delivery is left to create and none ends, the time between steps grows up to this, in milliseconds. */
const MAX_STEP_INTERVAL_MS = 60_000;

const DESCRIPTIONS: Readonly<Record<RecoveryAction, string>> = {
  pause:
    'Creates no further deliveries until it is resumed, and the first attempts of those that it has created wait; retries go on. Takes {"reason": "…"}, which the e-shop sees.',
  resume: 'Continues where it was paused.',
  cancel:
    'Ends it: deliveries that were created are still made, the others are not. Takes {"reason": "…"}, which the e-shop sees.',
};

/** Recovers until everything has been delivered or has failed, or until it is canceled. */
export async function recoverWebhook(input: RecoverWebhookInput): Promise<RecoveryProgress> {
  const { recoveryId } = input;
  const { advanceRecovery, controlRecovery } = ownSteps<RecoveryActivities>();
  let changes = 0;
  let latest: RecoveryProgress | null = null;
  const show = (progress: RecoveryProgress) => {
    latest = progress;
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
  setHandler(progressQuery, () => latest, { description: 'How far the recovery has come.' });
  for (const action of recoveryActions) {
    setHandler(
      defineUpdate<RecoveryProgress, [RecoveryRequest | undefined]>(action),
      async (request) => {
        const reason = request?.reason ?? '';
        const progress = show(await controlRecovery({ recoveryId, action, reason }));
        changes += 1;
        return progress;
      },
      { description: DESCRIPTIONS[action], validator: (input) => validate(action, input, latest) },
    );
  }

  try {
    return await run();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => {
      show(await controlRecovery({ recoveryId, action: 'cancel', reason: '' }));
    });
    throw error;
  } finally {
    // Every update gets its response before the workflow ends.
    if (!allHandlersFinished()) await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
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

/** @throws ApplicationFailure, which the operator reads */
function validate(action: RecoveryAction, input: unknown, latest: RecoveryProgress | null): void {
  const reason = reasonIn(input);
  if (reason === undefined) reject('Takes nothing, or {"reason": "a text"}.');
  if (reason.length > MAX_REASON_CHARS) reject(`The reason may have at most ${MAX_REASON_CHARS} characters.`);
  if (latest?.state === 'completed' || latest?.state === 'canceled') {
    reject(`The recovery is ${latest.state}: there is nothing to ${action}.`);
  }
}

/** The reason in an operator's unchecked input; undefined if the input is invalid. */
function reasonIn(input: unknown): string | undefined {
  if (input === undefined || input === null) return '';
  if (typeof input !== 'object' || Array.isArray(input)) return undefined;
  const { reason = '', ...others } = Object.fromEntries(Object.entries(input));
  return typeof reason === 'string' && Object.keys(others).length === 0 ? reason : undefined;
}
