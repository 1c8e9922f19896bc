import { isGrpcServiceError, ServiceError } from '@temporalio/client';

/** gRPC status INVALID_ARGUMENT: this very request is refused, and the next one may well be taken. */
const INVALID_ARGUMENT = 3;

/** True where Temporal answered and refused, false where it is away. */
export function isRefusal(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === INVALID_ARGUMENT;
}

/** True where Temporal's client threw it: not the database, nor we ourselves. */
export function isOfTemporal(error: unknown): boolean {
  return error instanceof ServiceError || isGrpcServiceError(error);
}
