import { Client, Connection } from '@temporalio/client';
import type { Settings } from '../config/variables.ts';
import { UserError } from '../lib/user-error.ts';
import { connectionOptions, type TemporalTarget, temporalTarget } from '../temporal/target.ts';
import { instanceOf } from './open-database.ts';

/** How long Temporal may take to answer, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Runs `work` with the Temporal at `TEMPORAL_ADDRESS`, else with that of the instance in `DATA_DIR`.
 * @throws UserError if there is none, or it cannot be reached
 */
export async function withTemporal<T>(
  settings: Settings,
  work: (client: Client, target: TemporalTarget) => Promise<T>,
): Promise<T> {
  const address = settings.TEMPORAL_ADDRESS ?? (await instanceOf(settings)).temporalAddress;
  if (address === undefined)
    throw new UserError('TEMPORAL_ADDRESS must be set: no instance in DATA_DIR provides one.');
  const target = await temporalTarget(settings, address);
  let connection: Connection;
  try {
    connection = await Connection.connect({
      ...connectionOptions(target),
      connectTimeout: CONNECT_TIMEOUT_MS,
    });
  } catch {
    throw new UserError(`Temporal at ${address} cannot be reached.`);
  }
  try {
    return await work(new Client({ connection, namespace: target.namespace }), target);
  } finally {
    await connection.close();
  }
}
