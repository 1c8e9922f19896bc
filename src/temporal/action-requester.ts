/** Passes on operator actions from the console and the API to the workflows of deliveries. */
import type { Config } from '../config/config.ts';
import type { Pool } from '../db/connection/pool.ts';
import { notPassedOn, type RequestAction } from '../domain/operator-action.ts';
import { reasonOf } from '../lib/user-error.ts';
import { connectionOptions, temporalTarget, withoutProxy } from './target.ts';

/** Connects to Temporal on first use: most processes never do. @param address `host:port` of the Temporal server */
export function createActionRequester(
  { settings, retryPolicy: policy }: Pick<Config, 'settings' | 'retryPolicy'>,
  sql: Pool,
  address: string,
): { readonly requestAction: RequestAction; close(): Promise<void> } {
  const connect = async () => {
    const [{ Client, Connection }, { createOperatorActions }] = await Promise.all([
      import('@temporalio/client'),
      import('./operator-actions.ts'),
    ]);
    const target = await temporalTarget(settings, address);
    const connection = Connection.lazy({ ...connectionOptions(target), ...withoutProxy });
    const client = new Client({ connection, namespace: target.namespace });
    return { connection, request: createOperatorActions({ client, sql, policy }) };
  };
  let connected: ReturnType<typeof connect> | undefined;
  return {
    async requestAction(action, deliveryId, input) {
      connected ??= connect();
      try {
        await connected;
      } catch (error) {
        // If a TLS file could not be read, for example, the next request tries again.
        connected = undefined;
        return notPassedOn(reasonOf(error));
      }
      return await (await connected).request(action, deliveryId, input);
    },
    async close() {
      await (await connected)?.connection.close();
    },
  };
}
