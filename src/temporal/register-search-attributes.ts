/** Registers the search attributes of a delivery on servers where the operator service may do so. */
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

/**
 * Adds the missing ones. Temporal Cloud does not allow it: there they are added in its console, and a log line names
 * them.
 */
export async function registerSearchAttributes(
  connection: NativeConnection,
  namespace: string,
  log: Logger,
): Promise<void> {
  const wanted = Object.entries(searchAttributeTypes);
  try {
    await connection.withDeadline(Date.now() + CALL_DEADLINE_MS, async () => {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      const missing = wanted.filter(([name]) => !(name in customAttributes));
      if (missing.length === 0) return;
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, TYPES[type]])),
      });
    });
  } catch (error) {
    log.warn(
      { err: error },
      `search attributes could not be checked; the namespace needs ${wanted.map(([name, type]) => `${name}=${type}`).join(', ')}`,
    );
  }
}
