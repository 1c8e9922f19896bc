/** Splits the error of a failed call into its causes, and looks up whose failure they are. */
import { type Evidence, type FailedStep, isInternalFault } from './fault.ts';
import { ProxyError } from './outbound-proxy.ts';
import { LookupError } from './resolver.ts';
import { hasRoute } from './route.ts';

/** Whether the error of a connection says nothing about the receiver. */
export async function isInternalFailure(
  error: unknown,
  evidence: Pick<Evidence, 'resolverAnswers'> & Partial<Evidence>,
): Promise<boolean> {
  const causes = error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error];
  const [first] = causes;
  // These errors already carry the answer: evidence was gathered during the lookup, or the proxy said so.
  if (first instanceof LookupError || first instanceof ProxyError) return first.internal;
  return await isInternalFault(causes.flatMap(stepsOf), { hasRoute, ...evidence });
}

/** Rows of the table for a socket's error, which may be the cause of another error; none for any other error. */
function stepsOf(error: unknown): FailedStep[] {
  if (!(error instanceof Error)) return [];
  if (!('code' in error) || typeof error.code !== 'string' || !('syscall' in error)) {
    return stepsOf(error.cause);
  }
  const address = 'address' in error && typeof error.address === 'string' ? error.address : undefined;
  return [{ code: error.code, step: 'connection', address }];
}
