/** The stack under faults: Postgres, Temporal, mail server and two processes of Waybill, with TCP proxies between. */

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPool, type Pool } from '../../src/db/connection/pool.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import type { Shutdown } from '../../src/lib/shutdown.ts';
import type { Setting } from '../../test/support/harness/settings.ts';
import { temporaryFolder } from '../../test/support/harness/temporary-folder.ts';
import { type DnsServer, startDnsServer } from '../../test/support/servers/dns-server.ts';
import { createPoolerPart, type PoolerPart, type PoolMode } from '../../test/support/servers/pooler.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import { createReceiver, type Receiver } from '../../test/support/servers/receiver.ts';
import { startTcpProxy, type TcpProxy } from '../../test/support/servers/tcp-proxy.ts';
import { until } from '../../test/support/until.ts';
import { type PolicyName, policyVariables } from '../policies.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { type PostgresPart, startPostgresPart } from './postgres.ts';
import { createProgramPart, type ProgramPart } from './program.ts';
import { startTemporalPart, type TemporalPart } from './temporal.ts';

/** The address of receivers: exempt from the guard against private addresses, unlike the rest of loopback. */
export const RECEIVER_HOST = '127.0.2.1';
/** Another, for receivers that move. */
export const NEXT_HOST = '127.0.2.2';

/** The module that gives the worker its own clock. */
const CLOCK_SHIFT = new URL('../clock/shift.mjs', import.meta.url).href;

/** A round's requirements of the stack. */
export interface Prepared {
  readonly policy: PolicyName;
  readonly workflows: Setting;
  readonly fault: { readonly pooler?: PoolMode };
}

/** The part of a stack that every round needs, however Waybill is run. */
export interface BasicStack {
  readonly apiUrl: string;
  /** All Waybill processes. */
  readonly programs: readonly ProgramPart[];
  /** A server on an address that is not exempt: no delivery may ever reach it. */
  readonly forbidden: Receiver;
  /** The harness's own way to the database, past the proxies. */
  readonly sql: Pool;
  /** Starts Waybill as the round requires, and restores everything that a fault has changed. */
  prepare(round: Prepared): Promise<void>;
  /** The address of Temporal, past the proxies, as `host:port`. */
  temporalAddress(): Promise<string>;
  /** The Message-IDs of all mails so far to this address. */
  mailsTo(address: string): Promise<readonly string[]>;
}

/** A running stack whose parts can be reached one by one. */
export interface Stack extends BasicStack {
  readonly postgres: PostgresPart;
  readonly temporal: TemporalPart;
  readonly mail: MailServer;
  readonly api: ProgramPart;
  readonly worker: ProgramPart;
  /** The proxies, by their two ends. */
  readonly links: Readonly<Record<'apiToPostgres' | 'workerToPostgres' | 'workerToTemporal', TcpProxy>>;
  /** The poolers between Waybill and Postgres, for rounds that want one; each is started by the first such round. */
  readonly poolers: Readonly<Record<PoolMode, PoolerPart>>;
  /** Sets the target of the links to Postgres, or of the harness's own link. */
  aimAtPostgres(who: 'everybody' | 'the harness', port: number): void;
  /** A folder for files that a fault needs. */
  readonly directory: string;
  /** The name server that Waybill uses. */
  readonly names: DnsServer;
  /** Shifts the worker's clock from the machine's by this many milliseconds. */
  shiftWorkerClock(ms: number): Promise<void>;
}

/** Waits until the API says that it is ready. */
export async function untilReady(apiUrl: string): Promise<void> {
  await until('readiness', async () => (await fetch(`${apiUrl}/readyz`).catch(() => undefined))?.ok);
}

/**
 * Starts everything.
 * @param shutdown receives the functions that stop each part
 * @param say receives a line of text for every step
 */
export async function startStack(shutdown: Shutdown, say: (text: string) => void): Promise<Stack> {
  const directory = await temporaryFolder(shutdown);
  say('starting Postgres, Temporal and a mail server …');
  const postgres = await startPostgresPart(join(directory, 'database'));
  await shutdown.add(() => postgres.stop());
  const binary = await findTemporal({ report: say });
  const temporal = await startTemporalPart(binary, join(directory, 'temporal.db'));
  await shutdown.add(() => temporal.stop());
  const mail = await startMailServer(await freePort());
  await shutdown.add(() => mail.stop());
  const forbidden = await createReceiver();
  await shutdown.add(() => forbidden.close());
  const names = await startDnsServer({});
  await shutdown.add(() => names.close());

  const database = new URL(postgres.url);
  const link = async (port: number) => {
    const proxy = await startTcpProxy({ port });
    await shutdown.add(() => proxy.close());
    return proxy;
  };
  const links = {
    apiToPostgres: await link(Number(database.port)),
    workerToPostgres: await link(Number(database.port)),
    workerToTemporal: await link(temporal.port),
  };
  const own = await link(Number(database.port));
  const through = ({ host }: TcpProxy) => Object.assign(new URL(database), { host }).href;
  const sql = createPool(through(own), 4);
  await shutdown.add(() => sql.end({ timeout: 5 }));
  const poolers = {
    transaction: await createPoolerPart('transaction', postgres.url, directory),
    session: await createPoolerPart('session', postgres.url, directory),
  };
  for (const pooler of Object.values(poolers)) await shutdown.add(() => pooler.stop());
  const port = await freePort();
  const clockFile = join(directory, 'clock-shift');
  const env = {
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: join(directory, 'data'),
    DELIVERY_ALLOW_CIDRS: `${RECEIVER_HOST}/32,${NEXT_HOST}/32`,
    DNS_SERVERS: names.address,
    SMTP_URL: mail.url,
    LOG_LEVEL: 'info',
  };
  const api = createProgramPart('the API', {
    ...env,
    ROLE: 'api',
    PORT: String(port),
    DATABASE_URL: through(links.apiToPostgres),
  });
  const worker = createProgramPart('the worker', {
    ...env,
    ROLE: 'worker',
    DATABASE_URL: through(links.workerToPostgres),
    NODE_OPTIONS: `--import=${CLOCK_SHIFT}`,
    CLOCK_SHIFT_FILE: clockFile,
    TEMPORAL_ADDRESS: links.workerToTemporal.host,
  });
  await shutdown.add(() => api.kill());
  await shutdown.add(() => worker.kill());
  return {
    directory,
    poolers,
    aimAtPostgres(who, port) {
      const waybills = who === 'everybody' ? [links.apiToPostgres, links.workerToPostgres] : [];
      for (const each of [own, ...waybills]) each.aim(port);
      // Waybill has to find out by itself.
      own.cut();
    },
    apiUrl: `http://127.0.0.1:${port}`,
    postgres,
    temporal,
    mail,
    api,
    worker,
    programs: [api, worker],
    links,
    forbidden,
    names,
    sql,
    shiftWorkerClock: (ms) => writeFile(clockFile, String(ms)),
    temporalAddress: async () => temporal.address,
    mailsTo: async (address) => mail.mailsTo(address),
    async prepare({ policy, workflows, fault: { pooler: mode } }) {
      await writeFile(clockFile, '0');
      mail.behave(() => 'take');
      const pooler = mode === undefined ? undefined : poolers[mode];
      if (pooler?.running === false) await pooler.start();
      const way = (direct: TcpProxy): Record<string, string> =>
        pooler === undefined ? {} : { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: through(direct) };
      await api.runWith(way(links.apiToPostgres));
      const wanted = { ...policyVariables(policy), WORKFLOWS: workflows };
      await worker.runWith({ ...wanted, ...way(links.workerToPostgres) });
    },
  };
}
