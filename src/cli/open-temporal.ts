import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { Settings } from '../config/variables.ts';
import { UserError } from '../lib/user-error.ts';
import { READ_DEADLINE_MS } from '../temporal/deadlines.ts';
import {
  causeOf,
  grpcStatusOf,
  isOfTemporal,
  isRateLimited,
  NOT_FOUND,
  RESOURCE_EXHAUSTED,
} from '../temporal/rejection.ts';
import { connectionOptions, type TemporalTarget, temporalTarget, withoutProxy } from '../temporal/target.ts';
import { instanceOf } from './open-database.ts';

/** How long Temporal may take to answer, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Temporal cannot be reached. */
export class TemporalAway extends UserError {}

/** Repeats calls as usual, except those beyond a limit of Temporal: their last error would only name a deadline. */
function repeatingWithinLimits() {
  const usual = defaultGrpcRetryOptions();
  return makeGrpcRetryInterceptor({
    ...usual,
    retryableDecider: (attempt, status) =>
      status.code !== RESOURCE_EXHAUSTED && usual.retryableDecider(attempt, status),
  });
}

/**
 * Runs `work` with the Temporal at `TEMPORAL_ADDRESS`, else with that of the instance in `DATA_DIR`.
 * @param options.namesLimits a call beyond its limits fails at once, instead of being repeated until its deadline
 * @param options.lazy connects with the first call, as `work` may need none
 * @throws TemporalAway if it cannot be reached; UserError if there is none, it lacks the namespace, or a call fails
 */
export async function withTemporal<T>(
  settings: Settings,
  work: (client: Client, target: TemporalTarget) => Promise<T>,
  { namesLimits = false, lazy = false } = {},
): Promise<T> {
  const address = settings.TEMPORAL_ADDRESS ?? (await instanceOf(settings)).temporalAddress;
  if (address === undefined)
    throw new UserError('TEMPORAL_ADDRESS must be set: no instance in DATA_DIR provides one.');
  const target = await temporalTarget(settings, address);
  const connection = Connection.lazy({
    ...connectionOptions(target),
    ...withoutProxy,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(namesLimits ? { interceptors: [repeatingWithinLimits()] } : {}),
  });
  try {
    const client = new Client({ connection, namespace: target.namespace });
    if (!lazy) {
      await connection.ensureConnected().catch(() => {
        throw new TemporalAway(`Temporal at ${address} cannot be reached.`);
      });
      await requireNamespace(client, target);
    }
    return await work(client, target);
  } catch (error) {
    if (isRateLimited(error)) {
      throw new UserError(
        `Temporal at ${address} refuses calls beyond its limits (${causeOf(error)}): raise them, or find out who makes so many.`,
      );
    }
    if (isOfTemporal(error))
      throw new UserError(`A call to Temporal at ${address} failed: ${causeOf(error)}`);
    throw error;
  } finally {
    await connection.close();
  }
}

/** Without the namespace every call would fail, each with a different error. */
async function requireNamespace(client: Client, { address, namespace }: TemporalTarget): Promise<void> {
  try {
    await client.withDeadline(Date.now() + READ_DEADLINE_MS, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    // Any other error may concern only this call, for example if it is not permitted.
    if (grpcStatusOf(error) !== NOT_FOUND) return;
    throw new UserError(
      `The namespace ${namespace} does not exist at ${address}: create it, or correct TEMPORAL_NAMESPACE.`,
    );
  }
}
