/** Registers the search attributes of a delivery, on servers whose operator service allows it. */
import { setTimeout as sleep } from 'node:timers/promises';
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { CALL_DEADLINE_MS } from './deadlines.ts';
import { searchAttributeTypes } from './search-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const TYPES = {
  Int: IndexedValueType.INDEXED_VALUE_TYPE_INT,
  Keyword: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  KeywordList: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
};

/** The time between two checks, in milliseconds: a start that Temporal refuses is tried again after half a minute. */
const LOOK_MS = 15_000;

/**
 * Adds the missing ones, now and whenever some vanish: a recreated namespace or a restored database of Temporal's has none, and no
 * delivery starts. Temporal Cloud does not allow it: there they are added in its console, and a log line names them.
 * @param intervalMs between two checks
 * @returns after the first check; `stop` waits for one under way
 */
export async function keepSearchAttributes(
  connection: NativeConnection,
  namespace: string,
  log: Logger,
  intervalMs = LOOK_MS,
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  let said = '';
  async function look(): Promise<void> {
    try {
      await addMissing(connection, namespace);
      said = '';
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // One line for each reason: it may last.
      if (reason !== said && !stopping.signal.aborted) log.warn({ err: error }, WANTED);
      said = reason;
    }
  }
  async function keepLooking(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (!stopping.signal.aborted) await look();
    }
  }
  await look();
  const looking = keepLooking();
  return {
    async stop() {
      stopping.abort();
      await looking;
    },
  };
}

const wanted = Object.entries(searchAttributeTypes);
const WANTED = `search attributes could not be checked; the namespace needs ${wanted.map(([name, type]) => `${name}=${type}`).join(', ')}`;

async function addMissing(connection: NativeConnection, namespace: string): Promise<void> {
  await connection.withDeadline(Date.now() + CALL_DEADLINE_MS, async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = wanted.filter(([name]) => !(name in customAttributes));
    if (missing.length === 0) return;
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, TYPES[type]])),
    });
  });
}
