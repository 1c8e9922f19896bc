/**
 * A server that runs as our child, when it does not.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAlive } from '../../src/embedded/processes.ts';
import { startService } from '../../src/embedded/service.ts';
import { until } from '../support/until.ts';

it('one that stops at once fails the start at once, long before it would be too late', async () => {
  const failed = startService({
    name: 'The server',
    command: '/bin/false',
    args: [],
    ready: async () => false,
    readyTimeoutMs: 60_000,
    stopTimeoutMs: 1_000,
  });
  await expect(failed).rejects.toThrow(/^The server exited immediately\.$/);
});

it('an answer from somebody else, where it was to serve, does not make one that has ended ready', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-service-'));
  const pidFile = join(directory, 'pid');
  try {
    const failed = startService({
      name: 'The server',
      command: '/bin/false',
      args: [],
      pidFile,
      ready: async () => {
        const pid = Number(await readFile(pidFile, 'utf8'));
        return await until('its end', async () => !(await isAlive(pid)));
      },
      readyTimeoutMs: 60_000,
      stopTimeoutMs: 1_000,
    });
    await expect(failed).rejects.toThrow(/^The server exited immediately\.$/);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
