/** The console as it is served: API and pages on one port, and a user who can sign in. */
import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { createApp } from '../../../src/api/app.ts';
import type { ApiDeps, ApiEnv } from '../../../src/api/deps.ts';
import { createSignAgain } from '../../../src/attempt/sign-again.ts';
import { createConsole, withConsole } from '../../../src/console/console.tsx';
import type { TemporalLinks } from '../../../src/console/deps.ts';
import { createUser } from '../../../src/db/accounts/users.ts';
import type { Pool } from '../../../src/db/connection/pool.ts';
import type { RequestAction } from '../../../src/domain/operator-action.ts';
import type { Role } from '../../../src/domain/role.ts';
import { listen } from '../../../src/http/http-server.ts';
import { cheapHash } from '../passwords.ts';
import type { visitorOf } from './visitor.ts';

/** A user who can sign in. */
export interface Person {
  readonly eshopId: number;
  readonly username: string;
  readonly password: string;
}

/** Creates a user of an e-shop. */
export async function newPerson(sql: Pool, eshopId: number, role: Role): Promise<Person> {
  const password = randomBytes(9).toString('base64url');
  const username = `${role}-of-the-console`;
  await createUser(sql, { eshopId, username, role, passwordHash: await cheapHash(password) });
  return { eshopId, username, password };
}

/** Signs a user in through the forms, as a browser does. @returns the console's answer */
export async function signIn(
  ask: ReturnType<typeof visitorOf>['ask'],
  { eshopId, username, password }: Person,
  more: Readonly<Record<string, string>> = {},
) {
  const { csrf } = await ask('/console/sign-in');
  return await ask('/console/sign-in', { csrf, eshop: String(eshopId), username, password, ...more });
}

/** The parts around the console that a test replaces. */
export interface DemoEnvironment {
  readonly api?: Hono<ApiEnv>;
  readonly requestAction?: RequestAction;
  readonly temporal?: TemporalLinks;
  readonly publicUrl?: string;
}

/** API and pages, as the server gets them. */
export function consoleOf(deps: ApiDeps, more: DemoEnvironment = {}) {
  const api = more.api ?? createApp(deps);
  const signAgain = createSignAgain(deps.keys);
  const { requestAction = null, publicUrl = null, temporal = null } = more;
  return withConsole(api, createConsole({ ...deps, api, signAgain, requestAction, temporal, publicUrl }));
}

/** The same on a port. */
export async function serveConsole(deps: ApiDeps, more: DemoEnvironment = {}) {
  return await listen(consoleOf(deps, more), '127.0.0.1', 0);
}
