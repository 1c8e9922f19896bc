/** The operators' console on loopback, made of the API, the console and functions of the other commands. */
import { createApplication } from '../app/application.ts';
import { configuredSender } from '../app/outgoing.ts';
import type { Settings } from '../config/variables.ts';
import { createConsole } from '../console/console.tsx';
import type { InstallationStatus, OperatorDeps } from '../console/deps.ts';
import { operatorAuthenticator } from '../console/operator/authenticator.tsx';
import type { Pool } from '../db/connection/pool.ts';
import { readFlow } from '../db/overview.ts';
import { listRecoveries, listRecoveriesUnderWay } from '../db/recoveries/recoveries.ts';
import { duration } from '../domain/duration.ts';
import { dataDirAt } from '../embedded/data-dir.ts';
import { registerConsole } from '../embedded/operator-consoles.ts';
import { listen } from '../http/http-server.ts';
import { remembered } from '../lib/remembered.ts';
import { UserError } from '../lib/user-error.ts';
import { aborted } from '../lib/wait-or-stop.ts';
import { createLog } from '../log/log.ts';
import { openOutput } from '../log/output.ts';
import { createActionRequester } from '../temporal/action-requester.ts';
import { createUiLinks } from '../temporal/ui-links.ts';
import { control } from './control-recovery.ts';
import { instanceOf, uiUrlOf, withDatabase } from './open-database.ts';
import { ownParts } from './own-parts.ts';
import { recoveryRecord } from './recovery-record.ts';
import type { TemporalStatus } from './status.ts';
import { askDatabase, askTemporal, messagesOf, readStorage, statusProblem } from './status.ts';
import { databaseRows, flowRows, temporalRows } from './status-command.ts';

/** Database connections: for one operator, who looks at a few pages. */
const CONNECTIONS = 4;
/**
 * How long the status of Temporal and of the storage is cached, in milliseconds. Several pages need them. Too low:
 * each call opens a connection, or writes rows to see whether the disk has room. Too high: an outage is
 * shown late.
 */
const SLOW_CACHE_MS = 10_000;
/** The maximum number of ended recoveries shown, besides those under way. */
const MAX_ENDED_RECOVERIES = 50;

const shown = (count: number) => count.toLocaleString('en-US');

async function readInstallation(
  sql: Pool,
  temporal: TemporalStatus,
  storage: () => ReturnType<typeof readStorage>,
): Promise<InstallationStatus> {
  const database = await askDatabase(sql, storage);
  const flow = await readFlow(sql);
  const { outbox, open, failing, recoveries } = database;
  const { fresh, bulk, recovered, retry, undelivered, oldestSeconds } = outbox;
  const { pending, retrying, held } = open;
  const oldest = oldestSeconds === null ? '' : `, the oldest for ${duration(oldestSeconds * 1_000)}`;
  const underWay = recoveries.length;
  const workers = temporal.problem === null ? temporal.workers.length : null;
  return {
    problems: messagesOf({ database, temporal }),
    counts: [
      [`in the queue${oldest}`, shown(fresh + bulk + recovered + retry + undelivered), null],
      ['waiting for first attempt', shown(pending), '/deliveries?state=pending'],
      ['being retried', shown(retrying), '/deliveries?state=retrying'],
      ['held', shown(held), '/deliveries?state=held'],
      [failing === 1 ? 'webhook failing' : 'webhooks failing', shown(failing), '/webhooks?trouble=true'],
      [underWay === 1 ? 'recovery under way' : 'recoveries under way', shown(underWay), '/recoveries'],
      [workers === 1 ? 'worker seen' : 'workers seen', workers === null ? '–' : shown(workers), null],
    ],
    rows: [...flowRows(flow), ...databaseRows(database), ...temporalRows(temporal)],
  };
}

function operatorDeps(sql: Pool, settings: Settings): OperatorDeps {
  const temporal = remembered(SLOW_CACHE_MS, () => askTemporal(settings).catch(statusProblem));
  const storage = remembered(SLOW_CACHE_MS, () => readStorage(sql));
  return {
    installation: async () => await readInstallation(sql, await temporal(), storage),
    async recoveries() {
      const [underWay, latest] = [
        await listRecoveriesUnderWay(sql),
        await listRecoveries(sql, null, MAX_ENDED_RECOVERIES),
      ];
      const knownIds = new Set(underWay.map(({ id }) => id));
      return [...underWay, ...latest.filter(({ id }) => !knownIds.has(id))].map(recoveryRecord);
    },
    async control(recoveryId, action, comment) {
      try {
        const { state, webhookId } = await control(sql, recoveryId, action, comment);
        return { done: true, message: `The recovery of webhook ${webhookId} is ${state}.` };
      } catch (error) {
        if (error instanceof UserError) return { done: false, message: error.message };
        throw error;
      }
    },
  };
}

/**
 * Serves until the signal is aborted, and then throws its reason.
 * @throws UserError if there is no such database, or the port is taken
 */
export async function serveOperatorConsole(
  env: Readonly<Record<string, string | undefined>>,
  { port, by }: { readonly port: number; readonly by: string },
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<never> {
  const { config, own, keys } = await ownParts(env);
  const { settings } = config;
  const address = settings.TEMPORAL_ADDRESS ?? (await instanceOf(settings)).temporalAddress;
  const uiUrl = await uiUrlOf(settings);
  return await withDatabase(
    settings,
    async (sql) => {
      const log = await createLog({
        level: 'warn',
        role: 'operator',
        terminal: process.stderr.isTTY,
        colors: false,
        to: openOutput(process.stderr),
      });
      const sender = configuredSender(config, own);
      const requester = address === undefined ? null : createActionRequester(config, sql, address);
      const application = await createApplication({
        config,
        own,
        sender,
        sql,
        healthSql: sql,
        keys: await keys(sql),
        log,
        temporalState: () => 'unknown',
        requestAction: requester?.requestAction ?? null,
      });
      const { authenticator, path } = operatorAuthenticator({ sql }, by);
      const pages = createConsole(
        {
          ...application,
          temporal: uiUrl === null ? null : createUiLinks(uiUrl, settings.TEMPORAL_NAMESPACE, sql),
          publicUrl: null,
          operator: operatorDeps(sql, settings),
        },
        authenticator,
      );
      const server = await listen(pages, '127.0.0.1', port, { variable: '--port' });
      own.addUrl(server.url, 80);
      const unregister = await registerConsole(
        dataDirAt(settings.DATA_DIR),
        Number(new URL(server.url).port),
      );
      try {
        print(`Open this link in a browser on this machine; it works once: ${server.url}${path}`);
        print(`Actions on deliveries are recorded under the name ${by}. Press Ctrl-C to stop.`);
        await aborted(signal);
        throw signal.reason;
      } finally {
        await server.close();
        await unregister();
        await sender.close();
        await requester?.close();
      }
    },
    CONNECTIONS,
  );
}
