import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { isDatabaseError } from '../lib/database-away.ts';

/** gRPC status INVALID_ARGUMENT: only this request is rejected; the next one may be accepted. */
const INVALID_ARGUMENT = 3;

/** gRPC status NOT_FOUND. */
export const NOT_FOUND = 5;

/** The gRPC error inside the client's own error, if there is one. */
const unwrapped = (error: unknown) => (error instanceof ServiceError ? (error.cause ?? error) : error);

/** The gRPC status of an error of Temporal's client; null for any other error. */
export function grpcStatusOf(error: unknown): number | null {
  const cause = unwrapped(error);
  return isGrpcServiceError(cause) ? cause.code : null;
}

/** True if Temporal rejected the request itself, false if it is unavailable. */
export const isRejection = (error: unknown): boolean => grpcStatusOf(error) === INVALID_ARGUMENT;

/** gRPC status RESOURCE_EXHAUSTED: a limit of Temporal, such as the calls per second of a namespace. */
export const RESOURCE_EXHAUSTED = 8;

/** True if Temporal rejected a call because of its limits. */
export const isRateLimited = (error: unknown): boolean => grpcStatusOf(error) === RESOURCE_EXHAUSTED;

/** True if Temporal's client threw it, and not the database or our own code. */
export function isOfTemporal(error: unknown): boolean {
  // For calls to workflows its client throws this one instead of the gRPC error.
  if (error instanceof NamespaceNotFoundError) return true;
  return error instanceof ServiceError || isGrpcServiceError(error);
}

/** Where an error comes from, for the log: Temporal, the database, or our own code. */
export function sourceOf(error: unknown): 'temporal' | 'database' | 'own' {
  if (isOfTemporal(error)) return 'temporal';
  return isDatabaseError(error) ? 'database' : 'own';
}

/** The cause of an error of Temporal's client: "7 PERMISSION_DENIED: Request unauthorized." */
export function causeOf(error: unknown): string {
  const cause = unwrapped(error);
  return cause instanceof Error ? cause.message : String(cause);
}
