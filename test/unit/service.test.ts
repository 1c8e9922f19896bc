/**
 * A server that runs as our child, when it does not.
 */
import { expect, it } from 'vitest';
import { startService } from '../../src/embedded/service.ts';

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
