/** What a workflow refuses. */
import { ApplicationFailure } from '@temporalio/workflow';

/**
 * Refuses what was asked, with a sentence for whoever asked and no stack trace, because no code failed.
 * @throws ApplicationFailure `Refused`
 */
export function refuse(why: string): never {
  const refusal = ApplicationFailure.nonRetryable(why, 'Refused');
  refusal.stack = '';
  throw refusal;
}
