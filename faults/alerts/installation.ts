/** A monitored installation: API, worker, Postgres, Temporal, mail server, and an e-shop that keeps them busy. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openShop } from '../../bench/shop.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import type { Shutdown } from '../../src/lib/shutdown.ts';
import { POLLS, startGrpcProxy, UNAVAILABLE } from '../../test/support/servers/grpc-proxy.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import { createReceiver, type Receiver } from '../../test/support/servers/receiver.ts';
import { startMailServer } from '../stack/mail-server.ts';
import { startPostgresPart } from '../stack/postgres.ts';
import { createProgramPart } from '../stack/program.ts';
import { startTemporalPart } from '../stack/temporal.ts';

/** A part that can be taken away. */
export interface Away {
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** A receiver that can stop, and hang. */
interface ReceiverPart extends Away {
  readonly url: string;
  hangs: boolean;
}

/** A running installation. */
export interface Installation {
  /** `host:port` of the metrics of each process. */
  readonly targets: readonly string[];
  readonly api: Away;
  readonly worker: Away;
  readonly postgres: Away;
  readonly temporal: Away;
  /** Temporal's answers to the worker's polls, while it answers everything else. */
  readonly polls: Away;
  /** One of two receivers. */
  readonly receiver: ReceiverPart;
  /** The worker's log from level `info` on. */
  log(): string;
  /** The orders accepted and refused so far. */
  readonly orders: { accepted: number; refused: number };
}

const PER_SECOND = 3;

/**
 * Starts it, with orders that go on until it is stopped.
 * @param directory a directory that every user may enter
 */
export async function startInstallation(
  shutdown: Shutdown,
  directory: string,
  say: (text: string) => void,
): Promise<Installation> {
  const postgres = await startPostgresPart(join(directory, 'database'));
  await shutdown.add(() => postgres.stop());
  const temporal = await startTemporalPart(
    await findTemporal({ report: say }),
    join(directory, 'temporal.db'),
  );
  await shutdown.add(() => temporal.stop());
  const proxy = await startGrpcProxy(temporal.address);
  await shutdown.add(() => proxy.close());
  const polls = {
    stop: async () => proxy.refuse(POLLS, UNAVAILABLE),
    start: async () => proxy.pass(),
  };
  const mail = await startMailServer(await freePort());
  await shutdown.add(() => mail.stop());
  const env = {
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: proxy.address,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: join(directory, 'data'),
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    SMTP_URL: mail.url,
    LOG_LEVEL: 'info',
  };
  const port = await freePort();
  const metrics = [await freePort(), await freePort()];
  const api = createProgramPart('the API', {
    ...env,
    ROLE: 'api',
    PORT: String(port),
    METRICS_PORT: String(metrics[0]),
  });
  const worker = createProgramPart('the worker', {
    ...env,
    ROLE: 'worker',
    METRICS_PORT: String(metrics[1]),
  });
  for (const part of [api, worker]) {
    await part.start();
    await shutdown.add(() => part.kill());
  }
  const sql = createPool(postgres.url, 1);
  const shop = await openShop(sql, `http://127.0.0.1:${port}`);
  await sql.end();
  await shutdown.add(() => shop.close());
  const receiver = await startReceiver();
  const steady = await startReceiver();
  for (const each of [receiver, steady]) {
    await shutdown.add(() => each.stop());
    await shop.createWebhook('CREATE_ORDER', `${each.url}/orders`);
  }
  const orders = { accepted: 0, refused: 0 };
  const order = () =>
    shop.createOrder().then(
      () => {
        orders.accepted += 1;
      },
      () => {
        orders.refused += 1;
      },
    );
  const over = new AbortController();
  const busy = (async () => {
    while (!over.signal.aborted) {
      void order();
      await sleep(1_000 / PER_SECOND, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  await shutdown.add(async () => {
    over.abort();
    await busy;
  });
  const targets = metrics.map((each) => `127.0.0.1:${each}`);
  return { log: worker.output, targets, api, worker, postgres, temporal, polls, receiver, orders };
}

async function startReceiver(): Promise<ReceiverPart> {
  const port = await freePort();
  let server: Receiver | undefined;
  const part: ReceiverPart = {
    url: `http://127.0.0.1:${port}`,
    hangs: false,
    async start() {
      server = await createReceiver(() => (part.hangs ? { hang: 'headers' } : {}), { port });
    },
    stop: async () => server?.close(),
  };
  await part.start();
  return part;
}
