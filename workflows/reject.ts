/** Rejections by workflows. */
import { ApplicationFailure } from '@temporalio/workflow';

/**
 * Rejects a request, with a message for the caller and no stack trace, because no code failed.
 * @throws ApplicationFailure `Rejected`
 */
export function reject(why: string): never {
  const rejection = ApplicationFailure.nonRetryable(why, 'Rejected');
  rejection.stack = '';
  throw rejection;
}
