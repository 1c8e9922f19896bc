/** The operator's view of a delivery in the Temporal UI: search attributes and a short Markdown table. */
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { OpenSituation } from '../src/attempt/situation.ts';
import type { FinalState } from '../src/domain/delivery-state.ts';
import type { ActionName } from '../src/domain/operator-action.ts';
import { maxAttempts } from '../src/domain/retry-policy.ts';
import type { DeliverEventInput, FailedAttempt, ShownAction } from './delivery-types.ts';
import { literal, literalCell } from './markdown.ts';
import { deliveryStateKey, lastStatusKey, receiverHostKey } from './search-attributes.ts';

/** A delivery in one line: "CREATE_ORDER 10001 → webhook 7". */
export function deliveryTitle(
  input: Pick<DeliverEventInput, 'eventType' | 'entityId' | 'webhookId'>,
): string {
  return `${input.eventType} ${literal(input.entityId)} → webhook ${input.webhookId}`;
}

export type OperatorView = ReturnType<typeof createOperatorView>;

/** How many operator actions are shown, the latest first. */
const SHOWN_ACTIONS = 20;

/**
 * Keeps and shows the attempts and operator actions of one delivery.
 * @param input the delivery to show
 */
export function createOperatorView(input: DeliverEventInput) {
  const failed: FailedAttempt[] = [];
  const asked: ShownAction[] = [...(input.actions ?? [])];
  const total = maxAttempts(input.policy);
  let headline = '';
  /** The headline of the last hold. */
  let heldHeadline = '';

  function show(): void {
    // The newest first: operators look for the latest attempt.
    const attempts = failed
      .toSorted((a, b) => b.number - a.number)
      .map((attempt) => [String(attempt.number), attempt.at, literalCell(attempt.message)]);
    const actions = asked
      .toReversed()
      .map(({ action, by, reason, at }) => [
        action,
        at,
        literalCell(by),
        reason === '' ? '' : literalCell(reason),
      ]);
    const tables = [
      ...table(['attempt', 'at', 'what happened'], attempts),
      ...table(['asked for', 'at', 'by', 'reason'], actions),
    ];
    setCurrentDetails([`**${deliveryTitle(input)}**`, '', headline, ...tables].join('\n'));
  }

  function attemptFailed(attempt: FailedAttempt): void {
    // A number may come twice: an interrupted attempt is made again under its number.
    const index = failed.findIndex((other) => other.number === attempt.number);
    if (index >= 0) failed[index] = attempt;
    else failed.push(attempt);
    headline =
      attempt.nextAttemptAt === null
        ? `Attempt ${attempt.number} of ${total} failed; no attempts are left.`
        : `Attempt ${attempt.number} of ${total} failed; next try ${attempt.nextAttemptAt}.`;
    upsertSearchAttributes([
      { key: deliveryStateKey, value: 'retrying' },
      { key: lastStatusKey, value: attempt.status },
    ]);
    show();
  }

  return {
    attemptFailed,
    /** @param failures the failed attempts before the start of the workflow, in order */
    attemptedBefore(failures: readonly FailedAttempt[]): void {
      const last = failures.at(-1);
      failed.push(...failures.slice(0, -1));
      if (last !== undefined) attemptFailed(last);
    },
    /** @param host the host in the webhook's URL now */
    receiver(host: string | null): void {
      if (host === null) return;
      const value = searchableHost(host);
      if (value !== workflowInfo().typedSearchAttributes.get(receiverHostKey))
        upsertSearchAttributes([{ key: receiverHostKey, value }]);
    },
    /** @param action an operator action that was carried out */
    actionTaken(action: ShownAction): void {
      asked.push(action);
      if (asked.length > SHOWN_ACTIONS) asked.shift();
      headline = `${ASKED[action.action]} by ${attribution(action)}`;
      show();
    },
    /** An operator holds the delivery, or its webhook is inactive or paused. */
    held(until: number, situation: Pick<OpenSituation, 'operator' | 'pausedUntil'>): void {
      const { operator } = situation;
      const webhook = heldBy(situation);
      const why =
        operator === null
          ? `Held: the webhook is ${webhook}.`
          : `Held by ${attribution(operator)} No attempt is made until it is resumed.`;
      const what = operator === null && webhook === 'paused' ? 'It goes on' : 'The window ends';
      headline = `${why} ${what} ${new Date(until).toISOString()}.`;
      heldHeadline = headline;
      upsertSearchAttributes([{ key: deliveryStateKey, value: 'held' }]);
      show();
    },
    /** The delivery is not held, or no longer: its webhook sends again, or an operator has resumed it. */
    goesOn(): void {
      if (workflowInfo().typedSearchAttributes.get(deliveryStateKey) !== 'held') return;
      upsertSearchAttributes([{ key: deliveryStateKey, value: failed.length === 0 ? null : 'retrying' }]);
      // After an operator action the headline says so already.
      if (headline === heldHeadline) headline = 'No longer held.';
      show();
    },
    ended(state: FinalState, message: string): void {
      // A workflow that was started with the result of an attempt has the attribute already.
      if (workflowInfo().typedSearchAttributes.get(deliveryStateKey) !== state)
        upsertSearchAttributes([{ key: deliveryStateKey, value: state }]);
      // A delivery that the first attempt delivered has nothing to show: no details are written.
      if (headline === '' && state === 'delivered') return;
      headline = message;
      show();
    },
    /** The failed attempts, in the order of their reports. */
    failures: (): readonly FailedAttempt[] => failed,
    /** The operator actions that are shown, oldest first. */
    actions: (): readonly ShownAction[] => asked,
  };
}

/** Why the webhook of a held delivery holds it. */
export function heldBy({ pausedUntil }: Pick<OpenSituation, 'pausedUntil'>): 'inactive' | 'paused' {
  return pausedUntil === undefined ? 'inactive' : 'paused';
}

/** The longest search attribute in Temporal's tables on SQL, in characters. */
const SEARCH_CHARACTERS = 255;

/** The value of {@link receiverHostKey}. */
export function searchableHost(host: string): string {
  return host.slice(0, SEARCH_CHARACTERS);
}

const ASKED: Readonly<Record<ActionName, string>> = {
  tryNow: 'An attempt at once, asked for',
  hold: 'Held',
  resume: 'Resumed',
  giveUp: 'Given up',
};

/** The person, the time and the reason of an action as Markdown: "anna at 2026-11-22T17:30:00.000Z: stock-taking." */
function attribution({ by, reason, at }: Pick<ShownAction, 'by' | 'reason' | 'at'>): string {
  return `${literal(by)} at ${at}${reason === '' ? '' : `: ${literal(reason)}`}.`;
}

/** Lines of Markdown; none for no rows. */
function table(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return ['', line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)];
}
