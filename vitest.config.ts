import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const tests = (names: string) => `test/${names}.test.ts`;

/** `npm run test:system`: what starts programs, browsers or the tools of other languages. */
const SYSTEM = [
  tests('{documentation,faults}/**/*'),
  tests('e2e/**/!(main-job)'),
  tests('cli/{console,listen,loads,output,top,which-program}'),
  tests('console/{journey,operator,screens,stored}'),
  tests('contract/{generated-client,openapi-lint}'),
  tests('db/lists-by-index'),
  tests('receiver/{package,postgres-store,recipe-servers,recipes,shown}'),
  tests('workflow/embedded-temporal'),
];
const UNIT = [tests('unit/**/*')];

/** Of tests on the servers that the set-up starts: what they wait for comes at once, unless the machine is busy. */
export const served = {
  pool: 'forks' as const,
  globalSetup: ['test/support/global-setup.ts'],
  testTimeout: 90_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};
// Loading what the files import anew for each takes as long as many of them run.
const sharing = { isolate: false };

export default defineConfig({
  test: {
    pool: 'forks',
    // The tests wait more than they compute.
    maxWorkers: Math.max(5, Math.ceil(availableParallelism() / 2)),
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { name: 'unit', pool: 'forks', ...sharing, testTimeout: 90_000, include: UNIT } },
      {
        test: {
          name: 'served',
          ...served,
          ...sharing,
          include: [tests('**/*')],
          exclude: [...UNIT, ...SYSTEM],
        },
      },
      { test: { name: 'system', ...served, include: SYSTEM } },
    ],
  },
});
