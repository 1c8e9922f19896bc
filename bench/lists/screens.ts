/**
 * The screens of the console over many rows: of the largest e-shop as its developers see them, and of all as operators do.
 */
import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import pino from 'pino';
import { createApplication } from '../../src/app/application.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createConsole } from '../../src/console/console.tsx';
import type { Authenticator, ConsoleEnv } from '../../src/console/deps.ts';
import { ranges } from '../../src/console/overview/ranges.ts';
import { ALL, CONSOLE } from '../../src/console/session.ts';
import { allEshops } from '../../src/db/console/eshops.ts';
import type { Pool } from '../../src/db/pool.ts';
import { createOwnEndpoints } from '../../src/delivery/own-endpoints.ts';
import { createSender } from '../../src/delivery/sender.ts';
import { version } from '../../src/lib/version.ts';
import { createKeys, type Keys } from '../../src/secrets/keys.ts';
import { percentile, shown, table } from '../statistics.ts';
import type { Seeded } from './seed.ts';

/** How long a screen took, from the request to its last byte. */
export interface ScreenTime {
  readonly screen: string;
  readonly bytes: number;
  /** Of each answer, in milliseconds. */
  readonly answers: readonly number[];
}

/** Lets everybody in as an operator. */
function openAuthenticator(sql: Pool): Authenticator {
  const user = { userId: 0, username: 'bench', role: 'warehouse' as const };
  return {
    routes: new Hono<ConsoleEnv>(),
    sessionOf: () => 'bench',
    authenticate: async () => ({ user, operator: true, ...(await allEshops(sql)) }),
    unauthenticated: (c) => c.text('', 401),
  };
}

/** Those of the e-shop have none yet. */
async function sealSecrets(sql: Pool, keys: Keys, eshopId: number): Promise<void> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhooks = await sql<{ id: number }[]>`select id from webhooks where eshop_id = ${eshopId}`;
  for (const { id: webhookId } of webhooks) {
    const sealed = keys.encryptSecret(secret, { eshopId, webhookId });
    await sql`update webhooks set secret = ${sealed} where id = ${webhookId}`;
  }
}

async function screensOf(sql: Pool, { eshopId, webhookId, entityId, busyEntityId }: Seeded) {
  const [latest] = await sql<{ id: string; eventId: string }[]>`
    select id, event_id from deliveries where eshop_id = ${eshopId} order by id desc limit 1`;
  const paths = [
    ...ranges.map(({ name }) => `?range=${name}`),
    '/webhooks',
    `/webhooks/${webhookId}`,
    '/deliveries',
    '/deliveries?state=failed',
    `/deliveries?entityId=${entityId}`,
    `/deliveries?entityId=${busyEntityId}`,
    `/deliveries/${latest?.id}`,
    '/events',
    `/events?entityId=${entityId}`,
    `/events?entityId=${busyEntityId}`,
    `/events/${latest?.eventId}`,
    '/orders',
    ALL,
    `${ALL}/webhooks`,
    `${ALL}/webhooks?trouble=true`,
    `${ALL}/deliveries`,
    `${ALL}/deliveries?state=failed`,
    `${ALL}/deliveries?entityId=${busyEntityId}`,
    `${ALL}/deliveries?receiver=shop.example`,
  ];
  return paths.map((path) => `${CONSOLE}${path}${path.includes('?') ? '&' : '?'}eshop=${eshopId}`);
}

/** Asks for each screen several times, after once that is not counted. @throws Error where one is refused */
export async function measureScreens(sql: Pool, seeded: Seeded, times: number): Promise<ScreenTime[]> {
  const own = createOwnEndpoints();
  const config = loadConfig({
    DATABASE_URL: 'postgres://unused.invalid/waybill',
    SECRET_KEY: randomBytes(32).toString('base64'),
    TEMPORAL_ADDRESS: 'unused.invalid:7233',
  });
  const sender = createSender({ timeoutMs: 1_000, allowCidrs: [], version });
  const log = pino({ level: 'error' }, pino.destination(2));
  const keys = createKeys(randomBytes(32));
  await sealSecrets(sql, keys, seeded.eshopId);
  const parts = { config, own, sender, sql, healthSql: sql, keys, log };
  const application = await createApplication({ ...parts, temporalState: () => 'unknown' });
  const pages = createConsole(
    { ...application, steer: null, temporal: null, publicUrl: null },
    openAuthenticator(sql),
  );
  const measured: ScreenTime[] = [];
  try {
    for (const path of await screensOf(sql, seeded)) {
      const answers: number[] = [];
      let bytes = 0;
      for (let time = 0; time <= times; time += 1) {
        const began = performance.now();
        const response = await pages.request(path);
        bytes = (await response.arrayBuffer()).byteLength;
        if (!response.ok) throw new Error(`${path}: ${response.status}`);
        if (time > 0) answers.push(performance.now() - began);
      }
      measured.push({ screen: path.replace(/[?&]eshop=\d+$/, ''), bytes, answers });
    }
  } finally {
    await sender.close();
  }
  return measured;
}

/** One row per screen. */
export function screensTable(measured: readonly ScreenTime[]): string {
  return table(
    ['screen', 'p50', 'p95', 'kB'],
    measured.map(({ screen, bytes, answers }) => [
      screen,
      shown(percentile(answers, 50)),
      shown(percentile(answers, 95)),
      shown(bytes / 1_000),
    ]),
  );
}
