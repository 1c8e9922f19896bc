/** Refusals of workflows. */
import { ApplicationFailure } from '@temporalio/workflow';

/**
 * Refuses a request, with a sentence for the caller and no stack trace, because no code failed.
 * @throws ApplicationFailure `Refused`
 */
export function refuse(why: string): never {
  const refusal = ApplicationFailure.nonRetryable(why, 'Refused');
  refusal.stack = '';
  throw refusal;
}
