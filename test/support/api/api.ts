/** The API on its own database, with e-shops, users and a `request` that sends key and token. */
import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import pino from 'pino';
import * as v from 'valibot';
import { vi } from 'vitest';
import { createApp } from '../../../src/api/app.ts';
import type { ApiDeps, ApiEnv } from '../../../src/api/deps.ts';
import { signToken } from '../../../src/api/token.ts';
import { createExaminer } from '../../../src/attempt/examiner.ts';
import { createTestSender } from '../../../src/attempt/test-sender.ts';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { createUser } from '../../../src/db/accounts/users.ts';
import { createPool, type Pool } from '../../../src/db/connection/pool.ts';
import { createSender } from '../../../src/delivery/sender.ts';
import { shippedMarketplaces } from '../../../src/domain/order/marketplaces.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import type { Role } from '../../../src/domain/role.ts';
import { shippedCatalogue } from '../../../src/domain/shipper-services.ts';
import { version } from '../../../src/lib/version.ts';
import { createKeys, type Keys } from '../../../src/secrets/keys.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { cheapHash } from '../passwords.ts';

const Body = v.looseObject({
  statusCode: v.number(),
  message: v.string(),
  error: v.optional(v.string()),
  data: v.optional(v.unknown()),
  pagination: v.optional(v.unknown()),
});

/** A response, its body parsed. `data` is `any` on purpose: each test expects its own shape. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: v.InferOutput<typeof Body>;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into records of every shape
  readonly data: any;
}

/** Sends one request as one user. `body` is sent as JSON, or as it is when it is a string. */
export type Request = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** A user who is logged in. */
export interface TestUser {
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly request: Request;
}

/** An e-shop with one user of each role. */
export interface TestEshop {
  readonly eshopId: number;
  readonly apiKey: string;
  readonly shop: TestUser;
  readonly warehouse: TestUser;
}

export interface TestApi {
  readonly app: Hono<ApiEnv>;
  readonly deps: ApiDeps;
  readonly sql: Pool;
  readonly keys: Keys;
  readonly database: TestDatabase;
  /** The first e-shop, and its two users' `request`. */
  readonly eshop: TestEshop;
  readonly shop: Request;
  readonly warehouse: Request;
  /** Without key and token. */
  readonly anonymous: Request;
  /** Another e-shop. */
  newEshop(): Promise<TestEshop>;
  /** How often the relay was woken. */
  notified(): number;
  drop(): Promise<void>;
}

function requestAs(app: Hono<ApiEnv>, always: Record<string, string>): Request {
  return async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string';
    const response = await app.request(path, {
      method,
      headers: {
        ...always,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('application/json') === true;
    const parsed = json ? v.safeParse(Body, JSON.parse(text)) : null;
    const answer = parsed?.success === true ? parsed.output : { statusCode: response.status, message: text };
    return { status: response.status, headers: response.headers, text, body: answer, data: answer.data };
  };
}

/**
 * Makes the API under test; `drop()` it in `afterAll`.
 * @param overrides replace dependencies of the API
 */
export async function createTestApi(overrides: Partial<ApiDeps> = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const healthSql = createPool(database.url, 1);
  const keys = overrides.keys ?? createKeys(randomBytes(32));
  const notified = vi.spyOn(database.sql.notifier, 'notify').mockClear();
  const sender = createSender({
    // A busy machine is slow.
    timeoutMs: 30_000,
    allowCidrs: ['127.0.0.0/8', '::1/128'],
    version,
  });
  const deps: ApiDeps = {
    sql: database.sql,
    healthSql,
    budget: { requests: 200, connections: 8, allConnections: 8, bytesPerSecond: 32 * 1024 * 1024 },
    log: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    keys,
    temporalState: () => 'unknown',
    loginLimits: { perAddress: 300 },
    trustProxy: false,
    policy: defaultRetryPolicy,
    destinationProblem: () => null,
    deliveriesFrom: { addresses: [], userAgent: 'Waybill/0.0.0-test' },
    sendTest: createTestSender({ sender, keys }),
    examine: createExaminer({ sender, keys, timeoutMs: 30_000 }),
    requestAction: null,
    version: '0.0.0-test',
    publicUrl: null,
    shipperCatalogue: shippedCatalogue,
    marketplaces: shippedMarketplaces,
    ...overrides,
  };
  const app = createApp(deps);
  const newEshop = async (): Promise<TestEshop> => {
    const { eshopId, apiKey } = await createEshop(database.sql, {
      name: 'Test shop',
      email: 'shop@example.test',
    });
    const newUser = async (role: Role): Promise<TestUser> => {
      const username = `${role}-${eshopId}`;
      const password = randomBytes(9).toString('base64url');
      const userId = await createUser(database.sql, {
        eshopId,
        username,
        role,
        passwordHash: await cheapHash(password),
      });
      const session = { eshopId, userId, username, role };
      const token = await signToken(keys.tokenKey, { session, passwordVersion: 1 }, new Date());
      const request = requestAs(app, { 'x-api-key': apiKey, authorization: `Bearer ${token}` });
      return { username, password, token, request };
    };
    return { eshopId, apiKey, shop: await newUser('shop'), warehouse: await newUser('warehouse') };
  };
  const eshop = await newEshop();
  return {
    app,
    deps,
    sql: database.sql,
    keys,
    database,
    eshop,
    shop: eshop.shop.request,
    warehouse: eshop.warehouse.request,
    anonymous: requestAs(app, {}),
    newEshop,
    notified: () => notified.mock.calls.length,
    async drop() {
      await sender.close();
      await healthSql.end();
      await database.drop();
    },
  };
}
