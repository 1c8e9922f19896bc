/**
 * The operator's view of a delivery in the Temporal UI: search attributes and a short Markdown table.
 * @module
 */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { FinalState } from '../src/attempt/situation.ts';
import { maxAttempts } from '../src/domain/retry-policy.ts';
import type { DeliverEventInput, FailedAttempt } from './delivery-types.ts';
import { literal, literalCell } from './markdown.ts';
import { deliveryStateKey, lastStatusKey } from './search-attributes.ts';

/** "CREATE_ORDER 10001 → webhook 7": the delivery in one line. */
export function deliveryTitle(
  input: Pick<DeliverEventInput, 'eventType' | 'entityId' | 'webhookId'>,
): string {
  return `${input.eventType} ${literal(input.entityId)} → webhook ${input.webhookId}`;
}

/** Keeps the story of one delivery and shows it. */
export interface OperatorView {
  attemptFailed(attempt: FailedAttempt): void;
  held(until: number | null): void;
  resumed(): void;
  ended(state: FinalState, sentence: string): void;
}

/** @param input the delivery whose story is shown */
export function createOperatorView(input: DeliverEventInput): OperatorView {
  const failed: FailedAttempt[] = [];
  const total = maxAttempts(input.policy);
  let headline = '';

  function show(): void {
    const rows = failed.map(
      (attempt) => `| ${attempt.number} | ${attempt.at} | ${literalCell(attempt.sentence)} |`,
    );
    const table = rows.length === 0 ? [] : ['', '| attempt | at | what happened |', '|---|---|---|', ...rows];
    setCurrentDetails([`**${deliveryTitle(input)}**`, '', headline, ...table].join('\n'));
  }

  return {
    attemptFailed(attempt) {
      // A signal may come twice: an interrupted attempt is made again under its number.
      const known = failed.findIndex((other) => other.number === attempt.number);
      if (known >= 0) failed[known] = attempt;
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
    },
    held(until) {
      headline = `Held: the webhook is inactive.${until === null ? '' : ` The window ends ${new Date(until).toISOString()}.`}`;
      upsertSearchAttributes([{ key: deliveryStateKey, value: 'held' }]);
      show();
    },
    resumed() {
      headline = 'The webhook changed: trying again.';
      show();
    },
    ended(state, sentence) {
      upsertSearchAttributes([{ key: deliveryStateKey, value: state }]);
      // A first-attempt success has no story to tell: its details stay unwritten.
      if (headline === '' && state === 'delivered') return;
      headline = sentence;
      show();
    },
  };
}
