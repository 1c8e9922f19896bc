/**
 * Mutation tests: one defect at a time is planted in the pure code, and its unit tests must find it.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'vitest.mutation.config.ts', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  mutate: [
    'src/domain/**/*.ts',
    'workflows/next-step.ts',
    'src/attempt/{decisions,lateness,prepare,situation}.ts',
    'src/delivery/{address-guard,destination,excerpt,failure-sentence,fault,local-names,our-failure,own-endpoints,request,retry-after,signature}.ts',
  ],
  coverageAnalysis: 'perTest',
  // Tables and schemas that are made once, when their module is loaded: each would have to be judged by all tests.
  // What they list and say is written out in test/unit/domain/schemas.test.ts.
  ignoreStatic: true,
  concurrency: 1,
  thresholds: { high: 95, low: 90, break: 90 },
  reporters: ['clear-text', 'json', 'progress-append-only'],
  clearTextReporter: { reportTests: false },
  jsonReporter: { fileName: 'reports/mutation.json' },
  tempDirName: '.stryker-tmp',
  // It would rewrite paths in tsconfig.json by means of an API that this TypeScript no longer has.
  ignorePatterns: ['tsconfig*.json', '.waybill', 'dist', 'bench', 'test/replay/histories'],
};
