/**
 * The recipes in other languages judge the test vectors correctly, each if its language is installed; so does the
 * `standardwebhooks` published on PyPI.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { AsymmetricVector } from '../../receiver/generate/asymmetric-vectors.ts';
import type { Vector } from '../../receiver/generate/vectors.ts';
import { folderOfFile } from '../support/ends.ts';
import { nightly } from '../support/runner/nightly.ts';
import { type Language, missing, recipesFolder } from './languages.ts';
import { type FoundPython, findPython } from './python.ts';

const run = promisify(execFile);
const vectors = new URL('../../receiver/vectors/', import.meta.url);
const textOf = async (name: string) => await readFile(new URL(`${name}.json`, vectors), 'utf8');
const vectorsOf = async (name: string): Promise<Vector[]> => JSON.parse(await textOf(name));
const signed = await vectorsOf('signed');
const refused = await vectorsOf('refused');
const setup = await vectorsOf('setup');
/** Those for public keys, which take the place of the secrets. */
const asymmetricOf = async (name: string): Promise<Judged[]> => {
  const all: AsymmetricVector[] = JSON.parse(await textOf(name));
  return all.map(({ publicKeys, ...vector }) => ({ ...vector, secrets: publicKeys }));
};
const asymmetric = await asymmetricOf('asymmetric');
const asymmetricSetup = await asymmetricOf('asymmetric-setup');

const temporary = await folderOfFile('waybill-recipes-');

type Judged = Omit<Vector, 'signedWith'>;

/** A request as a line of six fields in base64, which every language reads without a library. */
function lineOf({ secrets, now, method, target, headers, body }: Judged): string {
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
  /** The same for public keys. */
  readonly mistypedKeys?: readonly [string, ...string[]];
}
const recipeIn = (language: Language): Recipe => {
  const recipes: Readonly<Record<Language, Recipe>> = {
    Python: {
      check: ['python3', '-B', 'check.py'],
      mistyped: ['python3', '-B', '-c', PYTHON_MISTYPED],
      mistypedKeys: ['python3', '-B', '-c', PYTHON_MISTYPED_KEYS],
    },
    PHP: {
      check: ['php', 'check.php'],
      mistyped: ['php', '-r', PHP_MISTYPED],
      mistypedKeys: ['php', '-r', PHP_MISTYPED_KEYS],
    },
    Go: {
      prepare: ['go', 'build', '-o', join(temporary, 'check'), './check'],
      check: [join(temporary, 'check')],
    },
    Java: {
      prepare: ['javac', '-d', temporary, 'Waybill.java', 'WaybillV1a.java', 'Check.java'],
      check: ['java', '-cp', temporary, 'Check'],
    },
    Ruby: {
      check: ['ruby', 'check.rb'],
      mistyped: ['ruby', '-e', RUBY_MISTYPED],
      mistypedKeys: ['ruby', '-e', RUBY_MISTYPED_KEYS],
    },
  };
  return recipes[language];
};

const compiled = new Map<Language, Promise<unknown>>();
/** Compiles once what has to be compiled. */
async function prepared(language: Language, command: Recipe['prepare'], cwd: string): Promise<void> {
  const [tool, ...args] = command ?? [];
  if (tool === undefined) return;
  const running = compiled.get(language) ?? run(tool, args, { cwd });
  compiled.set(language, running);
  await running;
}

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

const PYTHON_MISTYPED_KEYS = `
import waybill_v1a
for keys in ("whpk_" + "b" * 42 + "E=", None, [], [None], [b"whpk_"], {"7": "whpk_"}):
    try:
        waybill_v1a.verify(keys, {}, b"")
        print("accepted")
    except waybill_v1a.BadKey:
        print("setup")
`;

const PHP_MISTYPED_KEYS = `
require 'waybill_v1a.php';
foreach ([[], [false], [null], [['whpk_' . str_repeat('b', 42) . 'E=']]] as $keys) {
    try {
        echo WaybillV1a::problem($keys, [], '') ?? 'accepted', "\\n";
    } catch (BadKey) {
        echo "setup\\n";
    }
}
`;
const RUBY_MISTYPED_KEYS = `
require './waybill_v1a'
["whpk_#{'b' * 42}E=", nil, [], [nil], { '7' => 'whpk_' }].each do |keys|
  puts WaybillV1a.problem(keys, {}, '') || 'accepted'
rescue WaybillV1a::BadKey
  puts 'setup'
end
`;

/** The program's verdict on each request. @throws Error if it fails */
async function judged(
  [program, ...args]: Recipe['check'],
  cwd: string,
  vectors: readonly Judged[],
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

const named = (vectors: readonly Judged[], verdicts: readonly string[]) =>
  vectors.map(({ name }, index) => [name, verdicts[index]]);

it.for<Language>(['Python', 'PHP', 'Go', 'Java', 'Ruby'])(
  'the recipe in %s judges every vector, and refuses to work without a valid secret',
  async (language, { skip }) => {
    const reason = await missing(language);
    if (reason !== null) return skip(reason);
    const { prepare, check, mistyped } = recipeIn(language);
    const cwd = join(recipesFolder, language.toLowerCase());
    await prepared(language, prepare, cwd);
    // Without v3 the origin is not signed: it is not passed on.
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

/** Python has no Ed25519 of its own: with `cryptography`, if installed; the nightly run installs it. */
async function pythonWithEd25519(): Promise<FoundPython> {
  const own = await run('python3', ['-c', 'import cryptography']).catch(() => null);
  if (own !== null) return { program: 'python3' };
  return nightly ? await findPython() : { program: null, reason: 'Python has no cryptography here.' };
}

it.for<Language>(['Python', 'PHP', 'Go', 'Java', 'Ruby'])(
  'the recipe in %s judges every vector for public keys, and refuses to work without a valid key',
  async (language, { skip }) => {
    const reason = await missing(language);
    if (reason !== null) return skip(reason);
    const python = language === 'Python' ? await pythonWithEd25519() : null;
    if (python?.program === null) return skip(python.reason);
    const { prepare, check, mistypedKeys } = recipeIn(language);
    const cwd = join(recipesFolder, language.toLowerCase());
    await prepared(language, prepare, cwd);
    const withPython = ([program, ...args]: Recipe['check']) =>
      [python?.program ?? program, ...args] as const;
    const all = [...asymmetric, ...asymmetricSetup];
    expect(named(all, await judged(withPython([...check, 'v1a']), cwd, all))).toEqual([
      ...asymmetric.map(({ name, valid }) => [name, String(valid)]),
      ...asymmetricSetup.map(({ name }) => [name, 'setup']),
    ]);
    if (mistypedKeys === undefined) return;
    expect(new Set(await judged(withPython(mistypedKeys), cwd, []))).toEqual(new Set(['setup']));
  },
);

it.runIf(nightly)(
  'the standardwebhooks published on PyPI accept what we sign, and nothing else',
  async ({ skip }) => {
    const python = await findPython();
    if (python.program === null) return skip(python.reason);
    const script = fileURLToPath(new URL('./published_library.py', import.meta.url));
    const verdicts = await judged([python.program, '-B', script], temporary, signed);
    expect(named(signed, verdicts)).toEqual(signed.map(({ name }) => [name, 'true']));
    const altered = signed.map((vector) => ({ ...vector, body: `${vector.body} ` }));
    expect(new Set(await judged([python.program, '-B', script], temporary, altered))).toEqual(
      new Set(['false']),
    );
  },
);
