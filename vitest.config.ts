import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** Their files share a process, and so what they import: loading it anew for each file takes as long as many of them run. */
const SHARING = ['api', 'contract', 'db', 'delivery', 'mail', 'unit'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

const timeouts = {
  testTimeout: 90_000,
  hookTimeout: 120_000,
  // What is polled comes at once, unless the machine is busy.
  expect: { poll: { timeout: 60_000 } },
};

export default defineConfig({
  test: {
    pool: 'forks',
    // The tests wait more than they compute.
    maxWorkers: Math.max(5, Math.ceil(availableParallelism() / 2)),
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...timeouts,
          name: 'alone',
          pool: 'forks',
          include: ['test/**/*.test.ts'],
          exclude: SHARING,
        },
      },
      { test: { ...timeouts, name: 'sharing', pool: 'forks', isolate: false, include: SHARING } },
    ],
  },
});
