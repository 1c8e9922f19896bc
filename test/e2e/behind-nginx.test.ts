/** A proxy that keeps connections longer than Node does by itself (five seconds and one), and repeats no POST. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createInstallation, type Installation } from '../support/programs/installation.ts';
import { type Program, startProgram } from '../support/programs/program.ts';
import { nightly } from '../support/runner/nightly.ts';
import { findNginx, type Nginx, startNginx } from '../support/servers/nginx.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';

/** From there to the server, in milliseconds: in this time a connection that is being closed still looks open. */
const DELAY_MS = 100;
const POSTS = 100;

const program = findNginx();
let installation: Installation;
let api: Program;
let delayed: TcpProxy;
let nginx: Nginx;

beforeAll(async () => {
  if (program === undefined) return;
  installation = await createInstallation();
  api = await startProgram({ ...installation.env, ROLE: 'api' });
  delayed = await startTcpProxy({ port: Number(new URL(api.url).port) });
  delayed.delay(DELAY_MS);
  nginx = await startNginx(program, delayed.port, POSTS);
});
afterAll(async () => {
  if (program === undefined) return;
  await nginx.close();
  await delayed.close();
  await api.kill();
  await installation.remove();
});

/** How much before the given pause a sweep begins, in milliseconds: the first answer may arrive late here. */
const EARLIER_MS = 600;
const STEP_MS = 7;

test.runIf(program !== undefined).each([6_000, ...(nightly ? [30_000, 59_900] : [])])(
  'no POST is reset on a hundred connections with pauses around %i ms',
  async (around) => {
    const agent = new Agent({ keepAliveTimeout: 600_000, keepAliveMaxTimeout: 600_000 });
    const post = async (way: number) => {
      const { statusCode, body } = await request(`${nginx.way(way)}/v21/users/login`, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      await body.dump();
      return statusCode;
    };
    const statuses = await Promise.all(
      Array.from({ length: POSTS }, async (_, way) => {
        const first = await post(way);
        await sleep(around - EARLIER_MS + STEP_MS * way);
        return [first, await post(way)];
      }),
    );
    await agent.close();
    // Without an API key.
    expect(new Set(statuses.flat())).toEqual(new Set([400]));
  },
);
