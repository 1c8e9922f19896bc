/** `waybill top`: the real program against a real database and Temporal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from 'vitest';
import { makeAhead } from '../../src/retention/retain.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { builtCli } from '../support/programs/built.ts';

const running = new Set<{ kill(signal: NodeJS.Signals): unknown }>();

const stack = await stackOfFile('top');
const receiver = await receiverOfFile();
await makeAhead(stack.sql);
const env = { PATH: process.env.PATH, ...stack.env };
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

function start(...args: string[]) {
  const child = spawn(process.execPath, [builtCli, 'top', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return { code, complaints };
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /** The next matching line. */
    async line(fits: (line: string) => boolean): Promise<string> {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`It ended: ${complaints}`);
        if (fits(value)) return value;
      }
    },
    async look(fits: (look: ReturnType<typeof JSON.parse>) => boolean) {
      return JSON.parse(await this.line((line) => fits(JSON.parse(line))));
    },
    end: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

it('top prints one line of JSON per look, and exits without an error', async () => {
  const top = start('--json');
  const first = await top.look(() => true);
  expect(first.database).toMatchObject({ problem: null, outbox: { fresh: 0 }, bytes: expect.any(Number) });
  await top.look(({ temporal }) => temporal?.workers?.length === 1);

  const { id } = await stack.createWebhook(receiver.url);
  await stack.fireOne('10001');
  const { flow } = await top.look((look) => look.flow.delivered === 1);
  expect(flow).toMatchObject({
    seconds: 10,
    events: 1,
    deliveries: 1,
    failing: 0,
    p50Ms: expect.any(Number),
  });

  receiver.respond({ status: 503, headers: { 'retry-after': '30' } });
  await stack.fireOne('10002');
  await top.look((look) => look.database.open.retrying === 1 && look.flow.failing === 1);
  await stack.changeWebhook(id, { active: false });
  await top.look((look) => look.database.open.held === 1 && look.database.open.retrying === 0);
  expect(await top.end()).toEqual({ code: 0, complaints: '' });
});

it('top prints the lines of waybill status', async () => {
  const top = start();
  expect(await top.line((line) => line.startsWith('Time '))).toMatch(/^Time +20\d\d-.* UTC$/);
  expect(await top.line((line) => line.startsWith('Deliveries '))).toMatch(/\d\/s: \d+ delivered/);
  await top.line((line) => /^Held +1, to 1 webhook$/.test(line));
  await top.line((line) => line.startsWith(`Workers     1 in the task queue ${stack.taskQueue}`));
  expect(await top.end()).toEqual({ code: 0, complaints: '' });
});

it('top reports an unavailable database, and continues once it is back', async () => {
  const top = start('--json');
  await top.look(({ database }) => database.problem === null);
  await stack.database.cut();
  const away = await top.look(({ database }) => database.problem !== null);
  expect(away).toMatchObject({
    database: { problem: expect.stringMatching(/^The database at DATABASE_URL /) },
    flow: null,
  });
  expect(away.problems).toContainEqual({ id: 'database', message: away.database.problem });
  await stack.database.restore();
  await top.look(({ database }) => database.problem === null);
  expect(await top.end()).toEqual({ code: 0, complaints: '' });
});
