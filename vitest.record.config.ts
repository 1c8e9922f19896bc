import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** `npm run record-histories`: the scenarios are lived through again, one after the other. */
export default mergeConfig(
  base,
  defineConfig({ test: { include: ['test/replay/record.ts'], exclude: [], testTimeout: 120_000 } }),
);
