/** `/openapi.json` by the rules of a linter: none is broken, and those that are loosened are in `redocly.yaml`. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApi } from '../support/api.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const Report = v.object({ problems: v.array(v.looseObject({ ruleId: v.string(), message: v.string() })) });

let document: string;
let folder: string;

beforeAll(async () => {
  const api = await createTestApi();
  document = (await api.anonymous('GET', '/openapi.json')).text;
  await api.drop();
  folder = await mkdtemp(join(tmpdir(), 'waybill-lint-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What is wrong with a document, by the rules that it breaks. */
async function problemsOf(text: string): Promise<string[]> {
  const file = join(folder, 'openapi.json');
  await writeFile(file, text);
  const args = ['lint', file, `--config=${join(root, 'redocly.yaml')}`, '--format=json'];
  // It neither reports itself nor asks for newer versions.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout } = await run(join(root, 'node_modules/.bin/redocly'), args, { env }).catch(
    // It ends with 1 where it finds something.
    (error: { stdout: string }) => error,
  );
  const { problems } = v.parse(Report, JSON.parse(stdout.slice(stdout.indexOf('{'))));
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

test('it breaks no rule', async () => {
  expect(await problemsOf(document)).toEqual([]);
});

test('a document that breaks one is found', async () => {
  const broken = document.replace('"summary":"List orders",', '');
  expect(broken).not.toBe(document);
  expect((await problemsOf(broken)).join('\n')).toContain('operation-summary');
});
