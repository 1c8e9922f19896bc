/**
 * Mutation tests: one defect at a time is put into the pure code, and its unit tests must find it.
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
    'src/delivery/{address-guard,destination,excerpt,failure-attribution,failure-sentence,fault,local-names,own-endpoints,request,retry-after,signature}.ts',
  ],
  coverageAnalysis: 'perTest',
  // What is made once, when its module is loaded: tables, schemas and the sample records of the documentation. Each
  // mutant of it would have to be judged by all tests; one in a sample, another town, would be no defect.
  // What schemas list and say is written out in test/unit/domain/schemas.test.ts, the ways between states in
  // test/support/status-tables.ts, and every sample is a record of its schema (test/unit/catalogue.test.ts).
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
