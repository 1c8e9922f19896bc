/**
 * A server that runs as our child process, and its failures.
 */
import { access, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { commandLine, isAlive } from '../../src/embedded/processes.ts';
import { startService, stopOrphan } from '../../src/embedded/service.ts';
import { folderOfTest } from '../support/ends.ts';
import { until } from '../support/until.ts';

/** What the servers below have in common. */
const usual = { name: 'The server', readyTimeoutMs: 60_000, stopTimeoutMs: 1_000 } as const;

it('a server that exits at once fails the start at once', async () => {
  const failed = startService({
    ...usual,
    command: '/bin/false',
    args: [],
    ready: async () => false,
  });
  await expect(failed).rejects.toThrow(/^The server exited immediately\.$/);
});

it('a long log replaces the previous old one at the start, and a short one is continued', async () => {
  const folder = await folderOfTest('waybill-log-');
  const logFile = join(folder, 'server.log');
  // Wait for its own line: with one of an earlier run it might be stopped before it has written.
  const run = async (name: string) => {
    const service = await startService({
      ...usual,
      command: '/bin/sh',
      args: ['-c', `echo ${name}; exec sleep 60`],
      logFile,
      ready: async () => (await readFile(logFile, 'utf8')).endsWith(`${name}\n`),
    });
    await service.stop();
  };

  await run('first');
  await run('second');
  expect(await readFile(logFile, 'utf8')).toBe('first\nsecond\n');

  const long = 10 * 1024 * 1024 + 1;
  await writeFile(`${logFile}.1`, 'older');
  await truncate(logFile, long);
  await run('third');
  expect(await readFile(logFile, 'utf8')).toBe('third\n');
  expect((await stat(`${logFile}.1`)).size).toBe(long);
});

it('another program that answers at the address does not make an exited server ready', async () => {
  const pidFile = join(await folderOfTest('waybill-service-'), 'pid');
  const failed = startService({
    ...usual,
    command: '/bin/false',
    args: [],
    pidFile,
    ready: async () => {
      const pid = Number(await readFile(pidFile, 'utf8'));
      return await until('its end', async () => !(await isAlive(pid)));
    },
  });
  await expect(failed).rejects.toThrow(/^The server exited immediately\.$/);
});

it('a server runs in the root folder, without our confidential variables', async () => {
  const folder = await folderOfTest('waybill-service-');
  process.env.SECRET_KEY = 'secret';
  onTestFinished(() => void delete process.env.SECRET_KEY);
  const logFile = join(folder, 'server.log');
  const service = await startService({
    ...usual,
    command: '/bin/sh',
    args: ['-c', 'pwd; printenv SECRET_KEY || echo none; exec sleep 60'],
    logFile,
    ready: async () => (await readFile(logFile, 'utf8')).split('\n').length > 2,
  });
  await service.stop();
  expect(await readFile(logFile, 'utf8')).toBe('/\nnone\n');
});

it('a server that ignores every signal does not keep this process from ending', async () => {
  const folder = await folderOfTest('waybill-service-');
  const service = await startService({
    ...usual,
    command: '/bin/sh',
    args: ['-c', `trap "" TERM; touch ${folder}/ready; while :; do sleep 1; done`],
    stopTimeoutMs: 100,
    stopSignals: ['SIGTERM'],
    ready: () => access(join(folder, 'ready')).then(() => true),
  });
  const pid = service.pid() ?? 0;
  onTestFinished(() => void process.kill(-pid, 'SIGKILL'));
  await expect(service.stop()).rejects.toThrow(`The server (process ${pid}) does not end.`);
});

it('a server whose id cannot be written, as on a full disk, is stopped', async () => {
  const folder = await folderOfTest('waybill-service-');
  const seconds = `6${process.pid}`;
  const failed = startService({
    ...usual,
    command: '/bin/sleep',
    args: [seconds],
    pidFile: join(folder, 'missing', 'pid'),
    ready: async () => true,
  });
  await expect(failed).rejects.toThrow('ENOENT');
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const lines = await Promise.all(pids.map((pid) => commandLine(pid)));
  expect(lines.filter((line) => line.includes(`sleep ${seconds}`))).toEqual([]);
});

it('a failed start reports its own causes, not earlier or later lines of the log', async () => {
  const logFile = join(await folderOfTest('waybill-log-'), 'server.log');
  await writeFile(logFile, 'FATAL:  of an earlier start\n');
  const failed = startService({
    ...usual,
    command: '/bin/sh',
    args: [
      '-c',
      'echo "FATAL:  no space"; for n in 1 2 3 4 5 6; do echo "LOG:  shutting down"; done; exit 1',
    ],
    logFile,
    ready: async () => false,
  });
  await expect(failed).rejects.toThrow(/server\.log:\nFATAL: {2}no space$/);
});

it('a server left behind that does not end fails the start', async () => {
  const folder = await folderOfTest('waybill-service-');
  const pidFile = join(folder, 'pid');
  const service = await startService({
    ...usual,
    command: '/bin/sh',
    args: ['-c', `trap "" TERM; touch ${folder}/ready; while :; do sleep 1; done`],
    pidFile,
    ready: () => access(join(folder, 'ready')).then(() => true),
  });
  onTestFinished(() => service.stop());
  await expect(stopOrphan(pidFile, folder, 100, ['SIGTERM'])).rejects.toThrow(
    `Process ${service.pid()}, which an earlier run left behind, does not end: ${folder} is still in use.`,
  );
});

it('a file without a process of the server is removed', async () => {
  const pidFile = join(await folderOfTest('waybill-service-'), 'pid');
  for (const left of ['', 'garbage', '0\n', `${process.ppid}\n`]) {
    await writeFile(pidFile, left);
    expect(await stopOrphan(pidFile, 'no such folder', 1_000)).toBe(false);
    await expect(access(pidFile)).rejects.toThrow('ENOENT');
  }
});
