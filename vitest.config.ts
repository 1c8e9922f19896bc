import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/runner/longest-first.ts';
import { nightly } from './test/support/runner/nightly.ts';
import { PATIENCE_MS } from './test/support/until.ts';

const tests = (names: string) => `test/${names}.test.ts`;

/**
 * `npm run test:system`: tests that start programs, browsers or other languages' tools, or bundle workflow code; and
 * of the others those of outages, random stories and plans without statistics that take long.
 */
const SYSTEM = [
  tests('{documentation,faults}/**/!(restored)'),
  tests('e2e/**/!(hot-statements|image|main-job|own-ports|pruned|release)'),
  tests('cli/{act-on-deliveries,build,console,listen,loads,output,replay,top,unsupported,which-program}'),
  tests('console/{journey,operator,screens,stored}'),
  tests('contract/openapi-lint'),
  tests('db/{plans/{claims-without-statistics,lists-of-a-record},retention/installed-postgres}'),
  tests('receiver/{listen,package,postgres-store,recipe-servers,recipes,shown}'),
  tests('replay/example'),
  tests('{repository/{alerts-fire,guide-code},unit/temporal-binary}'),
  tests('workflow/{any-story,dead-while-mailing,embedded-temporal,outage,temporal-away}'),
];
/** Likewise, for `.ci/nightly` alone. Of other files it runs more tests: those of `test.runIf(nightly)`. */
const NIGHTLY = [
  tests('contract/{generated-client,other-generators}'),
  tests('packages/installed'),
  // The drill of the handbook, with both kinds of backup.
  tests('faults/restored'),
  tests('e2e/{hot-statements,image,own-ports,pruned,release}'),
];
/** And for `.ci/on-postgres`. */
const otherPostgres = process.env.POSTGRES_PROGRAMS !== undefined;
const OTHER_POSTGRES = [tests('e2e/hot-statements')];
const UNIT = [tests('{repository,unit}/**/*')];

/** An interrupted run leaves its workers to themselves. */
const ENDS_WITH_THE_RUN = "data:text/javascript,process.on('disconnect',()=>process.exit())";

/**
 * In MiB. With the usual 16 its collection takes an eighth of the tests' time. Too high: each of five workers may
 * keep three times as much.
 */
const YOUNG_GENERATION = '--max-semi-space-size=64';

/** A busy machine must fail no test: these times only end tests that hang. */
const patient = {
  pool: 'forks' as const,
  execArgv: [YOUNG_GENERATION, '--import', ENDS_WITH_THE_RUN],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: PATIENCE_MS } },
};
/** Of tests on the servers that the set-up starts. */
export const served = { ...patient, globalSetup: ['test/support/runner/global-setup.ts'] };
// With `isolate`, loading the imports again for each file takes as long as many files run.
const sharing = { isolate: false };
/**
 * Temporal's SDK runs workflows in the test's own thread: a thread per worker takes most of a test's time. It also
 * ends no workflow task after five seconds, as on a busy machine. Whole programs run as they are shipped.
 */
const inProcess = { env: { TEMPORAL_DEBUG: '1' } };

export default defineConfig({
  test: {
    pool: 'forks',
    // The tests wait more than they compute.
    maxWorkers: Math.max(5, Math.ceil(availableParallelism() / 2)),
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { name: 'unit', ...patient, ...sharing, include: UNIT, exclude: SYSTEM } },
      {
        test: {
          name: 'served',
          ...served,
          ...sharing,
          ...inProcess,
          include: [tests('**/*')],
          exclude: [...UNIT, ...SYSTEM, ...NIGHTLY],
        },
      },
      {
        test: {
          name: 'system',
          ...served,
          ...sharing,
          ...inProcess,
          testTimeout: 900_000,
          include: [...SYSTEM, ...(nightly ? NIGHTLY : otherPostgres ? OTHER_POSTGRES : [])],
        },
      },
    ],
  },
});
