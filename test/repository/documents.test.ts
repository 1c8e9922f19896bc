/**
 * The documents: their links work, and the scripts, folders and files that they name exist.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const documents = [
  '.',
  'docs',
  'docs/decisions',
  'docs/guides',
  'docs/handbook',
  'patches',
  'receiver',
  'receiver/recipes',
].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file)),
);

const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** Without blocks of code: they contain no links, and `#` begins a comment there. */
const prose = (file: string) => read(file).replaceAll(/^```[\s\S]*?^```/gm, '');

/** The anchors that GitHub makes of a document's headings. */
function anchorsOf(file: string): string[] {
  return [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function linksOf(file: string): string[] {
  const found = prose(file).matchAll(/\]\(([^)\s]+)\)/g);
  return [...found].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
}

function isDead(file: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : join(dirname(file), path);
  if (!existsSync(join(root, target))) return true;
  return anchor !== undefined && !anchorsOf(target).includes(anchor);
}

test('the documents are found', () => {
  expect(documents).toEqual(expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/architecture.md']));
});

test('every link to a file or heading leads somewhere', () => {
  const dead = documents.flatMap((file) =>
    linksOf(file)
      .filter((link) => isDead(file, link))
      .map((link) => `${file}: ${link}`),
  );
  expect(dead).toEqual([]);
});

test('every npm script named in a document exists', () => {
  const named = documents.flatMap((file) => [...read(file).matchAll(/npm run ([\w:-]+)/g)]);
  expect(named.map(([, name = '']) => name).filter((name) => !(name in scripts))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

test('a tool that the README fetches has a version of no workspace, where npx would look first', () => {
  const [, version = ''] = /npx --yes openapi-typescript@(\S+)/.exec(read('README.md')) ?? [];
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  const { devDependencies } = JSON.parse(read('test/contract/consumer/package.json'));
  expect(devDependencies['openapi-typescript']).not.toBe(version);
});

test('every folder and file named in a document exists', () => {
  const paths =
    /`((?:src|test|workflows|activities|bin|bench|faults|mutants|demo|receiver|site|patches|docs|\.ci)\/[\w./-]*)`/g;
  const named = documents.flatMap((file) => [...prose(file).matchAll(paths)].map(([, path = '']) => path));
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(named.length).toBeGreaterThan(30);
});

/** "`kinds` and `Kind` in `src/console/records/kinds.ts`"; a file may also be named by the end of its path. */
const NAMED_IN = /((?:`[A-Za-z_]\w*` and )?`[A-Za-z_]\w*`) (?:in|of) `([\w./-]+\.tsx?)`/g;

test('every name that a document places in a file is in that file', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: root, encoding: 'utf8' }).split(
    '\n',
  );
  const named = documents.flatMap((document) =>
    [...prose(document).replaceAll(/\s+/g, ' ').matchAll(NAMED_IN)].map(([place, names = '', file = '']) => ({
      place: `${document}: ${place}`,
      names: names.match(/\w+/g)?.filter((name) => name !== 'and') ?? [],
      texts: files.filter((each) => `/${each}`.endsWith(`/${file}`)).map(read),
    })),
  );
  const holds = (text: string, name: string) => new RegExp(`\\b${name}\\b`).test(text);
  const wrong = named.filter(
    ({ names, texts }) => !texts.some((text) => names.every((name) => holds(text, name))),
  );
  expect(wrong.map(({ place }) => place)).toEqual([]);
  expect(named.length).toBeGreaterThan(25);
});

test('every chapter of the handbook is in its contents, and takes at most ten minutes to read', () => {
  const chapters = documents.filter((file) => /^docs\/handbook\/[a-z]/.test(file));
  const listed = linksOf('docs/handbook/README.md').map((link) => join('docs/handbook', link));
  expect(listed.filter((path) => path.startsWith('docs/handbook/')).sort()).toEqual(chapters.sort());
  expect(chapters.filter((file) => read(file).length > 12_000)).toEqual([]);
});

test('every decision is in the list of decisions', () => {
  const pages = documents.filter((file) => /^docs\/decisions\/\d/.test(file));
  expect(linksOf('docs/decisions/README.md').map((link) => join('docs/decisions', link))).toEqual(
    pages.sort(),
  );
});
