/** Registers the search attributes of a delivery, on servers whose operator service allows it. */
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { CALL_DEADLINE_MS } from './deadlines.ts';
import { type Polling, pollUntilStopped } from './poll-until-stopped.ts';
import { searchAttributeTypes } from './search-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const TYPES = {
  Int: IndexedValueType.INDEXED_VALUE_TYPE_INT,
  Keyword: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
};

/**
 * Adds the missing ones, now and whenever some vanish: a recreated namespace or a restored Temporal database has
 * none, and then no delivery starts. Temporal Cloud does not allow this: there they are added in its console, and a
 * log line names them.
 * @param intervalMs between two checks
 * @returns after the first check
 */
export async function keepSearchAttributes(
  connection: NativeConnection,
  namespace: string,
  log: Logger,
  intervalMs?: number,
): Promise<Polling> {
  const look = async () => {
    await addMissing(connection, namespace);
    return 'again' as const;
  };
  return await pollUntilStopped(look, log, WANTED, intervalMs);
}

const expected = Object.entries(searchAttributeTypes);
const WANTED = `search attributes could not be checked; the namespace needs ${expected.map(([name, type]) => `${name}=${type}`).join(', ')}`;

async function addMissing(connection: NativeConnection, namespace: string): Promise<void> {
  await connection.withDeadline(Date.now() + CALL_DEADLINE_MS, async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = expected.filter(([name]) => !(name in customAttributes));
    if (missing.length === 0) return;
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, TYPES[type]])),
    });
  });
}
