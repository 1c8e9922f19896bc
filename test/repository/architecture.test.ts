/** The arrows between the modules: which may import which. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import {
  cyclesIn,
  filesOf,
  graphOf,
  type Import,
  importsOf,
  loadedWith,
} from '../support/repository/imports.ts';

const root = resolve(import.meta.dirname, '../..');
const PROGRAM = ['src', 'workflows', 'activities'];
const BESIDE = ['demo', 'receiver/src', 'site', 'bench', 'faults', 'mutants', 'test'];

const importsOfFolders = (folders: readonly string[]) =>
  folders.flatMap((folder) => filesOf(root, folder)).flatMap((file) => importsOf(root, file));
const all = importsOfFolders(PROGRAM);
const everything = [...all, ...importsOfFolders(BESIDE)];

function breaches(module: string, forbidden: (found: Import) => boolean): string[] {
  return all
    .filter((found) => found.from.startsWith(module) && forbidden(found))
    .map((found) => `${found.from} imports ${found.to}`);
}
const isOwn = ({ to }: Import) =>
  /^(src|workflows|activities|demo|receiver|site|test|bench|faults|mutants)\//.test(to);

/** A folder of `src/`, a file beside these, or a folder of the repository. */
function moduleOf(file: string): string {
  const [folder = '', module] = file.split('/');
  return folder === 'src' ? `src/${module}` : folder;
}

/** The entry files: the header of each says "Module db, which imports domain, lib. Begin: …". */
const entries = filesOf(root, 'src').flatMap((file) => {
  const source = readFileSync(join(root, file), 'utf8').replace(/\n \* /g, ' ');
  const [, module, list] = /Module (\w+), which imports ([\w, ]+)\. Begin: /.exec(source) ?? [];
  if (module === undefined || list === undefined) return [];
  const outside = ['activities', 'demo', 'receiver', 'workflows'];
  const names = list === 'nothing' ? [] : list.split(', ');
  const imports = names.map((name) => (outside.includes(name) ? name : `src/${name}`));
  return [{ module: `src/${module}`, file, imports }];
});

/** The imports of what is shipped besides the modules of `src/`: no arrow may be missing or superfluous. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  activities: ['src/attempt', 'src/db', 'src/domain', 'src/mail', 'src/retention', 'src/traces', 'workflows'],
  demo: ['receiver', 'src/app', 'src/config', 'src/domain', 'src/embedded', 'src/lib'],
  site: ['src/api', 'src/db', 'src/domain', 'src/lib', 'src/secrets', 'src/theme'],
  'src/main.ts': [
    'src/app',
    'src/config',
    'src/delivery',
    'src/embedded',
    'src/http',
    'src/lib',
    'src/log',
    'src/metrics',
    'src/temporal',
    'src/traces',
  ],
  workflows: ['src/attempt', 'src/domain'],
};

test('imports between modules are those in their headers', () => {
  const tools = ['bench', 'faults', 'mutants', 'test'];
  const own = everything.filter((found) => isOwn(found) && !tools.includes(moduleOf(found.from)));
  const arrows = [...graphOf(own, moduleOf)].map(([module, targets]) => [module, [...targets].sort()]);
  const said = entries.flatMap(({ module, imports }) => (imports.length === 0 ? [] : [[module, imports]]));
  expect(Object.fromEntries(arrows)).toEqual({ ...ARROWS, ...Object.fromEntries(said) });
});

test('every folder of src/ has one entry file, and only main.ts is outside of a folder', () => {
  const folders = [...new Set(filesOf(root, 'src').map(moduleOf))];
  expect(entries.map(({ module, file }) => [module, dirname(file)]).sort()).toEqual(
    folders
      .filter((name) => name !== 'src/main.ts')
      .map((name) => [name, name])
      .sort(),
  );
});

test('there is no import cycle between modules', () => {
  expect(cyclesIn(graphOf(all.filter(isOwn), moduleOf))).toEqual([]);
});

test('there is no import cycle between files, not even through type imports', () => {
  expect(cyclesIn(graphOf(everything.filter(isOwn)))).toEqual([]);
});

const OWN_BUT_DOMAIN =
  /^(?!src\/domain\/)(?:src|workflows|activities|demo|receiver|site|test|bench|faults)\//;
const API = /^src\/api\//;
const TEMPORAL = /^@temporalio\//;

test.each([
  ['src/domain/', 'another module', OWN_BUT_DOMAIN],
  ['src/domain/', 'I/O', /^(node:)?(fs|net|http|https|dns|child_process)\b/],
  ...['src/api/', 'src/console/', 'src/db/', 'src/delivery/', 'src/domain/'].map(
    (module) => [module, 'Temporal', TEMPORAL] as const,
  ),
  ['activities/', 'Hono', /^(@hono\/|hono)/],
  // An attempt knows nothing of who asks for it.
  [
    'src/attempt/',
    'modules that ask for attempts',
    /^(@temporalio\/|workflows\/|activities\/|src\/(relay|temporal|reconciler|api|cli|embedded)\/)/,
  ],
  // Nothing calls back up.
  ...['src/relay/', 'src/db/', 'src/delivery/', 'workflows/', 'activities/'].map(
    (module) => [module, 'the API', API] as const,
  ),
] as const)('%s does not import %s', (module, _what, forbidden) => {
  expect(breaches(module, ({ to }) => forbidden.test(to))).toEqual([]);
});

test('shared files of domain/ import no kind of record, except for the tables of all kinds', () => {
  const kinds = /^src\/domain\/(order|receiving|return|product|stock)\//;
  const tables = ['src/domain/catalogue.ts', 'src/domain/personal-data.ts'];
  const shared = (file: string) => /^src\/domain\/[^/]+$/.test(file) && !tables.includes(file);
  const found = breaches('src/domain/', ({ from, to }) => shared(from) && kinds.test(to));
  expect(found).toEqual([]);
});

test('workflows/ imports only types and pure functions', () => {
  const allowed = /^(workflows|src\/domain)\/|^@temporalio\/(workflow|common)$/;
  const isType = ({ to, typeOnly }: Import) => typeOnly && to.startsWith('src/attempt/');
  expect(breaches('workflows/', (found) => !allowed.test(found.to) && !isType(found))).toEqual([]);
  // Otherwise schema libraries could get into the bundle.
  const bundled = loadedWith(root, 'workflows/index.ts');
  expect([...bundled].filter((name) => !/^(workflows|src\/domain)\/|^@temporalio\//.test(name))).toEqual([]);
});

test('a command is loaded only when it is called', () => {
  const first = [...loadedWith(root, 'src/cli/main.ts')].filter((name) => !name.startsWith('node:'));
  expect(first.sort()).toEqual([
    'commander',
    'src/cli/commands.ts',
    'src/cli/main.ts',
    'src/config/secret-files.ts',
    'src/domain/text.ts',
    'src/lib/user-error.ts',
    'src/lib/version.ts',
    'valibot',
  ]);
  // Loading these packages takes longer than all the rest.
  const slow = [...filesOf(root, 'src/cli'), 'demo/command.ts', 'demo/measure-command.ts'].filter((file) =>
    [...loadedWith(root, file)].some((name) => /^@temporalio\/(client|worker|proto)$/.test(name)),
  );
  expect(slow.sort()).toEqual([
    'src/cli/bulk-actions.ts',
    'src/cli/open-temporal.ts',
    'src/cli/reconcile.ts',
  ]);
});

test('OpenTelemetry is imported by one file, which is loaded only with a collector', () => {
  const file = 'src/traces/open-telemetry.ts';
  const isOpenTelemetry = ({ to }: Import) => to.startsWith('@opentelemetry/');
  const knowing = new Set(all.filter(isOpenTelemetry).map(({ from }) => from));
  expect([...knowing]).toEqual([file]);
  const loading = all.filter(({ to, typeOnly, whileRunning }) => to === file && !typeOnly && !whileRunning);
  expect(loading).toEqual([]);
});

test('console/ uses the API, and the database only for what the API does not give', () => {
  const own =
    /^src\/db\/(console\/|webhooks\/(request-settings|with-secrets|all-webhooks)\.ts$|deliveries\/(deliveries-of-eshops|operator-actions)\.ts$|notices\/confirmation\.ts$)/;
  const asked = breaches('src/console/', ({ to }) => to.startsWith('src/db/') && !own.test(to));
  expect(asked).toEqual([]);
  const handlers = /^src\/api\/(app|authenticate|token|.*\/?routes|.*\/operations)\.ts$/;
  expect(breaches('src/console/', ({ to, typeOnly }) => handlers.test(to) && !typeOnly)).toEqual([]);
});

test('SQL is written only in db/', () => {
  const outside = PROGRAM.flatMap((folder) => filesOf(root, folder))
    .filter((file) => !file.startsWith('src/db/'))
    .filter((file) => /\b(sql|tx)(<[^>]*>)?`/.test(readFileSync(join(root, file), 'utf8')));
  expect(outside).toEqual([]);
});

test('transactions begin in one place, and one module writes rows for the relay', () => {
  const elsewhere = (module: string, pattern: RegExp) =>
    PROGRAM.flatMap((folder) => filesOf(root, folder))
      .filter((file) => !file.startsWith(module))
      .filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')));
  // Migrations begin transactions before there is anything for the relay; an export only reads.
  expect(elsewhere('src/db/transaction.ts', /\bsql\.begin\(/).toSorted()).toEqual([
    'src/db/maintenance/eshop-export.ts',
    'src/db/migrate.ts',
  ]);
  expect(elsewhere('src/db/outbox/', /insert into (events|deliveries|changes_to_signal)\b/)).toEqual([]);
  expect(elsewhere('src/db/', /\bnotify(Outbox)?\(/)).toEqual([]);
});

test('the program loads nothing that renders the documentation', () => {
  const renderers = /^(site\/|highlight\.js|markdown-it|minisearch)/;
  expect(all.filter(({ to }) => renderers.test(to))).toEqual([]);
});

test('a process does not load a role that it does not have', () => {
  const first = loadedWith(root, 'src/main.ts');
  expect([...first].filter((name) => /^@temporalio\/(client|worker|proto)$/.test(name))).toEqual([]);
  expect([...first].filter((name) => /^src\/(console|relay|app\/\w+-role)/.test(name))).toEqual([]);
});

test('files named in comments exist', () => {
  const files = [...PROGRAM, ...BESIDE].flatMap((folder) => filesOf(root, folder));
  const ends = [...files, ...readdirSync(join(root, 'src/db/migrations'))].flatMap((file) =>
    file.split('/').map((_, at, parts) => parts.slice(at).join('/')),
  );
  const known = new Set(ends);
  const named = files.flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const comments = source.match(/^\s*(?:\/\*\*|\*|\/\/).*$/gm) ?? [];
    return comments
      .flatMap((line) => [...line.matchAll(/`(?:\.+\/)*([\w./-]+\.(?:tsx?|sql))`/g)])
      .map(([, name = '']) => ({ file, name }));
  });
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ name }) => !known.has(name) && !existsSync(join(root, name)))).toEqual([]);
});
