/** The bench as a program: it measures, and leaves nothing behind. No test checks how fast anything is. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waybill-bench-test-'));
  // As root, Postgres runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The bench with a small section. */
function startBench(...more: string[]) {
  const args = [
    '--import',
    'tsx',
    'bench/main.ts',
    '--quick',
    '--only',
    'calm',
    '--settings',
    'auto',
    ...more,
  ];
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, TMPDIR: folder } });
  let output = '';
  let progress = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const until = (text: string) =>
    new Promise<void>((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (said: string) => {
        progress += said;
        if (progress.includes(text)) resolve();
      });
    });
  return { child, ended: once(child, 'close'), until, output: () => output };
}

/** Folders of stacks; the TypeScript loader keeps its own beside them. */
const stacks = async () => (await readdir(folder)).filter((name) => name.startsWith('waybill-'));

/** Processes started in the folder that still run. */
async function leftRunning(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(folder));
}

describe.runIf(process.platform === 'linux')('the bench', () => {
  test('prints what it has measured, and leaves nothing behind', async () => {
    const { ended, output, until } = startBench('--json');
    void until('');
    expect(await ended).toEqual([0, null]);
    expect(JSON.parse(output())).toMatchObject({ runs: 1, engine: 'embedded', failures: [] });
    expect(output()).toContain('COMMIT to first byte at 50 % of it, p50, ms');
    expect(await stacks()).toEqual([]);
    expect(await leftRunning()).toEqual([]);
  });

  test('leaves nothing behind when it is interrupted', async () => {
    const { child, ended, until } = startBench();
    await until('orders delivered per second');
    expect(await stacks()).not.toEqual([]);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(await stacks()).toEqual([]);
    expect(await leftRunning()).toEqual([]);
  });
});
