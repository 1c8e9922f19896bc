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
import { type Language, missing, recipesFolder } from './languages.ts';
import { findPython } from './python.ts';
import type { Vector } from './vectors.ts';

const run = promisify(execFile);
const vectors = new URL('../../receiver/vectors/', import.meta.url);
const vectorsOf = async (name: string): Promise<Vector[]> =>
  JSON.parse(await readFile(new URL(`${name}.json`, vectors), 'utf8'));
const signed = await vectorsOf('signed');
const refused = await vectorsOf('refused');
const setup = await vectorsOf('setup');
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

/** A program that reads such lines, and the command before it. */
interface Recipe {
  readonly prepare?: readonly [string, ...string[]];
  readonly check: readonly [string, ...string[]];
  /** With arguments that are no list of texts: prints `setup`. Only of languages that do not refuse them by type. */
  readonly mistyped?: readonly [string, ...string[]];
}
const recipeIn = (language: Language): Recipe => {
  const recipes: Readonly<Record<Language, Recipe>> = {
    Python: {
      check: ['python3', '-B', 'check.py'],
      mistyped: ['python3', '-B', '-c', PYTHON_MISTYPED],
    },
    PHP: { check: ['php', 'check.php'], mistyped: ['php', '-r', PHP_MISTYPED] },
    Go: {
      prepare: ['go', 'build', '-o', join(temporary, 'check'), './check'],
      check: [join(temporary, 'check')],
    },
    Java: {
      prepare: ['javac', '-d', temporary, 'Waybill.java', 'Check.java'],
      check: ['java', '-cp', temporary, 'Check'],
    },
    Ruby: { check: ['ruby', 'check.rb'], mistyped: ['ruby', '-e', RUBY_MISTYPED] },
  };
  return recipes[language];
};

const PYTHON_MISTYPED = `
import waybill
for secrets in ("whsec_" + "a" * 32, None, [None], [b"a" * 24], {"7": "a" * 24}):
    try:
        waybill.verify(secrets, "POST", "/", {}, b"")
        print("accepted")
    except waybill.BadSecret:
        print("setup")
`;
const PHP_MISTYPED = `
require 'waybill.php';
foreach ([[false], [null], [[str_repeat('a', 24)]]] as $secrets) {
    try {
        echo Waybill::problem($secrets, 'POST', '/', [], '') ?? 'accepted', "\\n";
    } catch (BadSecret) {
        echo "setup\\n";
    }
}
`;
const RUBY_MISTYPED = `
require './waybill'
["whsec_#{'a' * 32}", nil, [nil], { '7' => 'a' * 24 }].each do |secrets|
  puts Waybill.problem(secrets, 'POST', '/', {}, '') || 'accepted'
rescue Waybill::BadSecret
  puts 'setup'
end
`;

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

function withoutV3(vector: Vector): Vector {
  const signature = vector.headers['x-service-signature']?.replace(/,v3=.*/, '') ?? '';
  return {
    ...vector,
    name: `${vector.name}, taken away`,
    headers: { ...vector.headers, 'x-service-signature': signature, 'x-service-origin': 'shop' },
  };
}

/** What a recipe says: who made the change, and what it changed. */
function accepted({ headers }: Vector): string {
  const { 'x-service-origin': origin = '', 'x-service-changed': changed = '' } = headers;
  return ['true', origin, ...changed.split(',')].join(' ').trim();
}

const named = (vectors: readonly Vector[], verdicts: readonly string[]) =>
  vectors.map(({ name }, index) => [name, verdicts[index]]);

it.for<Language>(['Python', 'PHP', 'Go', 'Java', 'Ruby'])(
  'the recipe in %s judges every vector, and refuses to work with what is no secret',
  async (language, { skip }) => {
    const reason = await missing(language);
    if (reason !== null) return skip(reason);
    const { prepare, check, mistyped } = recipeIn(language);
    const cwd = join(recipesFolder, language.toLowerCase());
    const [tool, ...args] = prepare ?? [];
    if (tool !== undefined) await run(tool, args, { cwd });
    // Without v3 the origin may be anybody's: it is not told.
    const cut = signed.filter(({ headers }) => 'x-service-origin' in headers).map(withoutV3);
    const all = [...signed, ...cut, ...refused, ...setup];
    expect(named(all, await judged(check, cwd, all))).toEqual([
      ...signed.map((vector) => [vector.name, accepted(vector)]),
      ...cut.map(({ name }) => [name, 'true']),
      ...refused.map(({ name }) => [name, 'false']),
      ...setup.map(({ name }) => [name, 'setup']),
    ]);
    if (mistyped === undefined) return;
    expect(new Set(await judged(mistyped, cwd, []))).toEqual(new Set(['setup']));
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
