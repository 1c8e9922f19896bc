/** A run of retention in words: for the log, the command line and the Temporal UI. */
import type { Retained } from '../domain/retention-result.ts';
import { counted } from '../domain/text.ts';

/** The sentence, or null if there was nothing to do. */
export function summary(done: Retained): string | null {
  const { made, dropped, kept, removed, forgotten, outOfRange, postponed, failed } = done;
  const rows = dropped.reduce((sum, partition) => sum + partition.rows, 0);
  const parts = [
    made.length > 0 && `made ${counted(made.length, 'week')} ahead (${made.join(', ')})`,
    dropped.length > 0 &&
      `dropped ${counted(dropped.length, 'partition')} with about ${counted(rows, 'row')} (${dropped.map(({ partition }) => partition).join(', ')})`,
    kept.length > 0 &&
      `kept ${kept.map(({ partition, neededBy }) => `${partition} (needed by ${counted(neededBy, 'delivery', 'deliveries')})`).join(', ')}`,
    removed.deliveries + removed.events > 0 &&
      `removed ${counted(removed.deliveries, 'finished delivery', 'finished deliveries')} and ${counted(removed.events, 'event')} from partitions that stay`,
    forgotten.importKeys > 0 && `forgot ${counted(forgotten.importKeys, 'key')} of imported lines`,
    forgotten.rows > 0 &&
      `removed ${counted(forgotten.rows, 'row')} about redeliveries, recoveries, former states of webhooks and answers`,
    forgotten.erased > 0 && `erased the secrets of ${counted(forgotten.erased, 'deleted webhook')}`,
    forgotten.webhooks > 0 && `removed ${counted(forgotten.webhooks, 'deleted webhook')}`,
    outOfRange > 0 &&
      `${counted(outOfRange, 'row')} with an id far from the present: check the clocks of the machines`,
    postponed.length > 0 && `left to the next run: ${postponed.join('; ')}`,
    failed.length > 0 && `${counted(failed.length, 'step')} failed: ${failed.join(', ')}`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? null : `${parts.join('; ')}.`;
}
