/** The API is killed in the middle of an import: when it is sent again, every line is applied once. */
import { expect, onTestFinished, test } from 'vitest';
import { login } from '../support/api/client.ts';
import { createInstallation } from '../support/programs/installation.ts';
import { type Program, startProgram } from '../support/programs/program.ts';
import { until } from '../support/until.ts';

const LINES = 1000;

const lines = Array.from({ length: LINES }, (_, index) => {
  const body = { type: 'stock_correction', sku: 'MUG-BLUE', count: 1, reference: String(index) };
  return `${JSON.stringify({ operation: 'stockMovement', idempotencyKey: `line-${index}`, body })}\n`;
});

/** All lines except the last, which never comes: however late the kill, the import has not ended. */
const unfinished = () =>
  new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from(lines.slice(0, -1).join(''))),
  });

test('an import that is killed and sent again loses no line, and applies none twice', async () => {
  const installation = await createInstallation();
  onTestFinished(() => installation.remove());
  const { sql, credentials } = installation;
  const env = { ...installation.env, ROLE: 'api' };
  const send = async (
    program: Program,
    body: string | ReadableStream,
    read: (results: string) => Promise<void>,
  ) => {
    const client = await login(program.url, { ...credentials, ...credentials.warehouse });
    const answer = await fetch(`${program.url}/v21/warehouse/events/import`, {
      method: 'POST',
      headers: { ...client.headers, 'content-type': 'application/x-ndjson' },
      body,
      duplex: 'half',
    });
    let results = '';
    for await (const chunk of answer.body ?? []) {
      results += Buffer.from(chunk).toString();
      await read(results);
    }
    return results.split('\n').slice(0, -1);
  };
  const movements = async () =>
    (await sql<{ reference: string }[]>`select reference from stock_movements`).map(
      ({ reference }) => reference,
    );

  const first = await startProgram(env);
  let answered = 0;
  const broken = send(first, unfinished(), async (results) => {
    answered = results.split('\n').length - 1;
    if (answered > LINES / 10) await first.kill();
  });
  await expect(broken).rejects.toThrow();
  // A transaction that has reached its COMMIT is committed even if its client is dead.
  await until('what was under way to end', async () => {
    const busy = await sql`
      select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`;
    return busy.length === 0;
  });
  const applied = (await movements()).length;
  expect(applied).toBeGreaterThanOrEqual(answered);
  expect(applied).toBeLessThan(LINES);

  const second = await startProgram(env);
  onTestFinished(async () => void (await second.stop()));
  const results = (await send(second, lines.join(''), async () => {})).map((line) => JSON.parse(line));
  expect(results).toHaveLength(LINES);
  expect(results.filter(({ statusCode }) => statusCode !== 200)).toEqual([]);
  expect(results.filter(({ repeated }) => repeated === true)).toHaveLength(applied);
  const references = await movements();
  expect(references).toHaveLength(LINES);
  expect(new Set(references).size).toBe(LINES);
});
