/**
 * Mutation tests: one defect at a time is put into the pure code, and its unit tests must find it.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'vitest.mutation.config.ts', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  mutate: [
    'src/concurrency/{counts,limits,turns}.ts',
    'src/domain/**/*.ts',
    'workflows/next-step.ts',
    'src/attempt/{decisions,lateness,prepare,situation}.ts',
    'src/delivery/{address-guard,excerpt,failure-attribution,failure-message,fault,local-names,own-endpoints,request,retry-after,signature}.ts',
  ],
  coverageAnalysis: 'perTest',
  // Values made when their module is loaded: tables, schemas, samples. Every test would have to judge each mutant of
  // them, and another town in a sample is no defect. Others cover them: test/unit/domain/schemas.test.ts the schemas,
  // test/support/api/status-tables.ts the transitions, test/unit/catalogue.test.ts the samples.
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
