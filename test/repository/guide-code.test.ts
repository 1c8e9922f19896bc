/**
 * The code in the guides parses, compiles or runs. Shell commands run in test/e2e/quickstart.test.ts.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { importOperations } from '../../src/api/import/operations.ts';
import { policyTable } from '../../src/cli/policy-table.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { runProgram } from '../support/programs/run-program.ts';
import { type Block, blocksOf, guideNames, guideText } from '../support/repository/guides.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const blocks = guideNames().flatMap(blocksOf);
const inLanguage = (language: string) => blocks.filter((block) => block.language === language);
const nameOf = ({ guide, line }: Block) => `${guide}.md, line ${line}`;
const named = (language: string) => inLanguage(language).map((block) => [nameOf(block), block] as const);

/** Runs code with a new folder from which the packages can be imported. */
async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'guide-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs code with a file that contains a block. */
async function withFile(
  extension: string,
  { text }: Block,
  use: (path: string) => Promise<unknown>,
): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, `block.${extension}`);
    await writeFile(path, text);
    await use(path);
  });
}

const check = (program: string, ...args: string[]) => runProgram(program, args, { cwd: root });

it('every block names its language, and every language is tried', () => {
  expect([...new Set(blocks.map(({ language }) => language))].sort()).toEqual([
    'bash',
    'json',
    'ndjson',
    'php',
    'python',
    'sh',
    'text',
    'ts',
  ]);
});

/** `sh`: what runs until it is interrupted, which no test pastes. */
it.each([...named('bash'), ...named('sh')])('%s is valid shell code', async (_name, block) => {
  await withFile('sh', block, (path) => check('bash', '-n', path));
});

it.each(named('json'))('%s is JSON', (_name, { text }) => {
  expect(JSON.parse(text)).toBeTypeOf('object');
});

it.each(named('ndjson'))('%s is JSON, line by line', (_name, { text }) => {
  for (const line of text.trim().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object');
});

/** All at once: the compiler spends most of its time on what they share. */
it('every TypeScript block compiles with the kit', async () => {
  const kit = join(root, 'receiver/src');
  const compilerOptions = {
    noEmit: true,
    paths: { '@waybill-hq/receiver': [join(kit, 'index.ts')], '@waybill-hq/receiver/*': [join(kit, '*.ts')] },
  };
  await withFolder(async (folder) => {
    for (const { guide, line, text } of inLanguage('ts'))
      await writeFile(join(folder, `${guide}-line-${line}.ts`), text);
    const project = join(folder, 'tsconfig.json');
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      include: ['*.ts'],
      exclude: [],
    };
    await writeFile(project, JSON.stringify(config));
    await check(process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', project);
  });
});

it.for(named('python'))('%s is valid Python, and runs if it ends by itself', async ([, block], { skip }) => {
  const present = await run('python3', ['--version']).catch(() => null);
  if (present === null) return skip('Python is not present on this machine.');
  const ends = !block.text.includes('serve_forever');
  const compiled = 'import ast, sys; ast.parse(open(sys.argv[1]).read())';
  await withFile('py', block, async (path) => {
    await (ends ? check('python3', '-B', path) : check('python3', '-c', compiled, path));
  });
});

it.for(named('php'))('%s is valid PHP', async ([, block], { skip }) => {
  const present = await run('php', ['--version']).catch(() => null);
  if (present === null) return skip('PHP is not present on this machine.');
  await withFile('php', block, (path) => check('php', '-l', path));
});

it('the table of waits is what `waybill policy` prints', () => {
  expect(guideText('retries')).toContain(`\n${policyTable(defaultRetryPolicy)}\n`);
});

it('the table of import operations lists all of them', () => {
  const rows = importOperations.map(
    ({ name, endpoint }) => `| \`${name}\` | \`${endpoint.replace(' /v21', ' ')}\` |`,
  );
  expect(guideText('importing')).toContain(`|---|---|\n${rows.join('\n')}\n\n`);
});
