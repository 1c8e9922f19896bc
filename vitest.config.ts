import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    // The tests wait more than they compute.
    maxWorkers: Math.max(4, Math.ceil(availableParallelism() / 2)),
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    include: ['test/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
});
