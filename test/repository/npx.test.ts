/**
 * Nothing that Waybill shows makes npm run a stranger's package. `waybill` and `waybill-receiver` name commands: who
 * has packages of these names in the registry, if anybody, is not for us to say.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json'));
const kit = JSON.parse(read('receiver/package.json'));

/** Folders of files that nobody reads, or that only tests run. */
const ASIDE = ['node_modules', 'dist', 'test', 'bench', 'faults', 'mutants'];
const TEXT = /(?:^|[/])(?:Dockerfile|[^/]+\.(?:md|tsx?|js|ya?ml|html|py|php|go|java|rb))$/;

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (/^(?:dist)?\./.test(entry.name) || ASIDE.includes(entry.name)) return [];
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && TEXT.test(path) ? [path] : [];
  });
}

/** What people read of Waybill and may paste into a terminal: documents, console, commands, kit, our scripts. */
const texts = filesBelow('').map((file) => ({ file, text: read(file) }));

/** Other people's programs that may be fetched: by an exact version. */
const WELL_KNOWN = /^openapi-typescript@\d+\.\d+\.\d+$/;
const RUNNERS = /\b(npx|npm (?:exec|x|create|init)|pnpm dlx|pnpx|yarn dlx|bunx)\b((?: +[^\s`'"<)|]+)*)/g;

/** Whether a line would run nothing but what is installed, or what is named exactly. */
function isSafe(runner: string, words: readonly string[]): boolean {
  // The name of the program, in prose.
  if (words.length === 0) return true;
  if (runner === 'npx')
    return words[0] === '--no' || (words[0] === '--yes' && WELL_KNOWN.test(words[1] ?? ''));
  return runner === 'npm init' && words[0]?.startsWith('-') === true;
}
const unsafeIn = (text: string) =>
  [...text.matchAll(RUNNERS)]
    .filter(([, runner = '', words = '']) => !isSafe(runner, words.split(' ').filter(Boolean)))
    .map(([line]) => line);

/** Lines that install or import a package of the name of one of our commands. */
const UNSCOPED =
  /npm (?:install|i|add)\b[^\n`]* (?:waybill|waybill-receiver)(?=[@\s`'"]|$)|(?:from|import|require\() ?['"](?:waybill|waybill-receiver)(?:\/[^'"]*)?['"]/gm;

test('no text has a line that could run a package of another owner', () => {
  const found = texts.flatMap(({ file, text }) => unsafeIn(text).map((line) => `${file}: ${line}`));
  expect(found).toEqual([]);
  expect(texts.filter(({ text }) => text.includes('npx --no waybill')).length).toBeGreaterThan(10);
});

test('no text installs or imports a package by the name of a command', () => {
  const found = texts.flatMap(({ file, text }) =>
    (text.match(UNSCOPED) ?? []).map((line) => `${file}: ${line}`),
  );
  expect(found).toEqual([]);
});

test('all texts name the packages as their manifests do, under one scope', () => {
  const [scope] = String(manifest.name).split('/');
  expect([manifest.name, kit.name]).toEqual([`${scope}/server`, `${scope}/receiver`]);
  const names = texts.flatMap(({ text }) => text.match(/@[\w-]+\/(?:server|receiver)\b/g) ?? []);
  expect([...new Set(names)].sort()).toEqual([kit.name, manifest.name]);
  expect(read('README.md')).toContain(`\`${manifest.name}\``);
});
