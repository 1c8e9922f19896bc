/**
 * The recipes in other languages judge the test vectors correctly, each if its language is installed; so does the
 * `standardwebhooks` published on PyPI.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nightly } from '../support/nightly.ts';
import { findPython } from './python.ts';
import type { Vector } from './vectors.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../receiver/', import.meta.url));
const vectorsOf = async (name: string): Promise<Vector[]> =>
  JSON.parse(await readFile(join(folder, 'vectors', `${name}.json`), 'utf8'));
const signed = await vectorsOf('signed');
const refused = await vectorsOf('refused');
let temporary = '';

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'waybill-recipes-'));
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

/** A request as a line of six fields in base64, which every language reads without a library. */
function lineOf({ secrets, now, method, target, headers, body }: Vector): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const fields = [secrets.join(','), String(now), method, target, lines.join('\n'), body];
  return fields.map((field) => Buffer.from(field).toString('base64')).join(' ');
}

/** A program that reads such lines, and the commands around it. */
interface Recipe {
  readonly language: string;
  /** Prints its version; if it cannot, the language is not installed. */
  readonly present: readonly [string, ...string[]];
  readonly prepare?: readonly [string, ...string[]];
  readonly check: readonly [string, ...string[]];
}
const recipes = (): readonly Recipe[] => [
  { language: 'Python', present: ['python3', '--version'], check: ['python3', '-B', 'check.py'] },
  { language: 'PHP', present: ['php', '--version'], check: ['php', 'check.php'] },
  {
    language: 'Go',
    present: ['go', 'version'],
    prepare: ['go', 'build', '-o', join(temporary, 'check'), './check'],
    check: [join(temporary, 'check')],
  },
  {
    language: 'Java',
    present: ['javac', '--version'],
    prepare: ['javac', '-d', temporary, 'Waybill.java', 'Check.java'],
    check: ['java', '-cp', temporary, 'Check'],
  },
  { language: 'Ruby', present: ['ruby', '--version'], check: ['ruby', 'check.rb'] },
];

/** The program's verdict on each request. @throws Error if it fails */
async function judged(
  [program, ...args]: Recipe['check'],
  cwd: string,
  vectors: readonly Vector[],
): Promise<string[]> {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(vectors.map((vector) => `${lineOf(vector)}\n`).join(''));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${program} ended with ${code}.`);
  return output.trim().split('\n');
}

const named = (vectors: readonly Vector[], verdicts: readonly string[]) =>
  vectors.map(({ name }, index) => [name, verdicts[index]]);

/** Two compilers take longer than all the others together. */
const tried = recipes().filter(({ prepare }) => nightly || prepare === undefined);

it.for(tried.map(({ language }) => language))(
  'the recipe in %s',
  { timeout: 300_000 },
  async (language, { skip }) => {
    const recipe = recipes().find((each) => each.language === language);
    if (recipe === undefined) throw new RangeError(language);
    const cwd = join(folder, 'recipes', language.toLowerCase());
    const [probe, ...version] = recipe.present;
    const present = await run(probe, version, { cwd }).catch(() => null);
    if (present === null) return skip(`${language} is not present on this machine.`);
    const [tool, ...args] = recipe.prepare ?? [];
    if (tool !== undefined) await run(tool, args, { cwd });
    const all = [...signed, ...refused];
    expect(named(all, await judged(recipe.check, cwd, all))).toEqual(
      all.map(({ name, valid }) => [name, String(valid)]),
    );
  },
);

it.runIf(nightly)('the standardwebhooks that is published on PyPI', async ({ skip }) => {
  const python = await findPython();
  if (python.program === null) return skip(python.reason);
  const script = fileURLToPath(new URL('./published_library.py', import.meta.url));
  const verdicts = await judged([python.program, '-B', script], temporary, signed);
  expect(named(signed, verdicts)).toEqual(signed.map(({ name }) => [name, 'true']));
  const altered = signed.map((vector) => ({ ...vector, body: `${vector.body} ` }));
  expect(new Set(await judged([python.program, '-B', script], temporary, altered))).toEqual(
    new Set(['false']),
  );
});
