/** The operator's view of a batch in the Temporal UI. */
import type { BatchResult } from '../src/domain/batch-result.ts';
import { counted } from '../src/domain/words.ts';
import type { DeliverBatchInput } from './batch-types.ts';

type Shown = Pick<DeliverBatchInput, 'claimed' | 'webhooks' | 'webhookCount'>;

/** "500 attempts for 12 webhooks": a batch in one line. */
export function batchTitle({ claimed, webhookCount }: Shown): string {
  return `${counted(claimed, 'attempt')} for ${counted(webhookCount, 'webhook')}`;
}

/** Its webhooks as Markdown; those left out are counted. */
export function batchDetails(input: Shown): string {
  const { webhooks, webhookCount } = input;
  const rows = webhooks.map(({ webhookId, deliveries }) => `| ${webhookId} | ${deliveries} |`);
  const more = webhookCount - webhooks.length;
  return [
    `**${batchTitle(input)}**`,
    '',
    '| webhook | deliveries |',
    '|--:|--:|',
    ...rows,
    ...(more > 0 ? ['', `and ${counted(more, 'more webhook')}`] : []),
  ].join('\n');
}

/** Its result and what follows, in sentences. */
export function batchOutcome({ delivered, requeued, deferred, left }: BatchResult): string {
  const follows =
    requeued === 0
      ? ''
      : ` ${requeued} requeued, for another batch or for workflows of their own, delivery/…/<id>.`;
  const queued =
    deferred === 0 ? '' : ` ${deferred} deferred: their receivers had as much under way as they take.`;
  const open = left === 0 ? '' : ` ${left} left.`;
  return `${delivered} delivered.${follows}${queued}${open}`;
}
