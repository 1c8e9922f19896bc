/** Temporal is reached directly, as by the workers, whatever proxy the environment names for other programs. */
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { withTemporal } from '../../src/cli/open-temporal.ts';
import { readSettings } from '../../src/config/config.ts';

test.each(['http_proxy', 'https_proxy', 'grpc_proxy'])('%s is not used for Temporal', async (name) => {
  vi.stubEnv(name, 'http://127.0.0.1:1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const settings = readSettings({ TEMPORAL_ADDRESS: inject('temporalAddress') });
  expect(await withTemporal(settings, async (_client, target) => target.namespace)).toBe('default');
});
