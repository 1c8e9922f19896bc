/** `/openapi.json` breaks no rule of a linter; the relaxed rules are in `redocly.yaml`. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { createTestApi } from '../support/api/api.ts';
import { folderOfFile } from '../support/ends.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const Report = v.object({ problems: v.array(v.looseObject({ ruleId: v.string(), message: v.string() })) });

const api = await createTestApi();
const document: string = (await api.anonymous('GET', '/openapi.json')).text;
await api.drop();
const folder = await folderOfFile('waybill-lint-');

/** The rules that a document breaks. */
async function problemsOf(text: string): Promise<string[]> {
  const file = join(folder, 'openapi.json');
  await writeFile(file, text);
  const args = ['lint', file, `--config=${join(root, 'redocly.yaml')}`, '--format=json'];
  // Without telemetry and the check for new versions.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout } = await run(join(root, 'node_modules/.bin/redocly'), args, { env }).catch(
    // It exits with 1 if it finds something.
    (error: { stdout: string }) => error,
  );
  const { problems } = v.parse(Report, JSON.parse(stdout.slice(stdout.indexOf('{'))));
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

test('the document breaks no rule of the linter', async () => {
  expect(await problemsOf(document)).toEqual([]);
});

test('a document that breaks a rule is found', async () => {
  const broken = document.replace('"summary":"List orders",', '');
  expect(broken).not.toBe(document);
  expect((await problemsOf(broken)).join('\n')).toContain('operation-summary');
});
