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

/** Each file of these has its process to itself, because it stops workers of its own. */
const ALONE = [tests('{cli,console,e2e,receiver,replay,workflow}/**/*')];

const common = {
  pool: 'forks' as const,
  testTimeout: 90_000,
  hookTimeout: 120_000,
  // What is polled comes at once, unless the machine is busy.
  expect: { poll: { timeout: 60_000 } },
};

/** Of every run. */
export const run = {
  pool: 'forks' as const,
  // The tests wait more than they compute.
  maxWorkers: Math.max(5, Math.ceil(availableParallelism() / 2)),
  globalSetup: ['test/support/global-setup.ts'],
};

export default defineConfig({
  test: {
    ...run,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...common, name: 'alone', include: ALONE, exclude: SYSTEM } },
      {
        test: {
          ...common,
          name: 'sharing',
          // Loading what the files import anew for each takes as long as many of them run.
          isolate: false,
          include: [tests('**/*')],
          exclude: [...ALONE, ...SYSTEM],
        },
      },
      { test: { ...common, name: 'system', include: SYSTEM } },
    ],
  },
});
