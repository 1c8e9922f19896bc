import { isGrpcServiceError, ServiceError } from '@temporalio/client';

/** gRPC status INVALID_ARGUMENT: only this request is rejected; the next one may be accepted. */
const INVALID_ARGUMENT = 3;

/** gRPC status NOT_FOUND. */
export const NOT_FOUND = 5;

/** True if Temporal rejected the request itself, false if it is away. */
export function isRejection(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === INVALID_ARGUMENT;
}

/** gRPC status RESOURCE_EXHAUSTED: a limit of Temporal, such as the calls per second of a namespace. */
export const RESOURCE_EXHAUSTED = 8;

/** True if Temporal rejected a call because of its limits. */
export function isRateLimited(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === RESOURCE_EXHAUSTED;
}

/** True if Temporal's client threw it, and not the database or our own code. */
export function isOfTemporal(error: unknown): boolean {
  return error instanceof ServiceError || isGrpcServiceError(error);
}

/** The cause of an error of Temporal's client: "7 PERMISSION_DENIED: Request unauthorized." */
export function causeOf(error: unknown): string {
  const cause = error instanceof ServiceError ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
