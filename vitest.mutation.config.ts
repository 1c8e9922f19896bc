/** The tests that decide about mutants: pure ones, without servers, processes or files. */
import { defineConfig } from 'vitest/config';

const pure = [
  'announced-lines',
  'catalogue',
  'decimal',
  'order-status',
  'render',
  'retry-policy',
  'sscc',
  'timestamp',
];

export default defineConfig({
  test: {
    include: [...pure.map((name) => `test/unit/${name}.test.ts`), 'test/unit/domain/*.test.ts'],
    setupFiles: ['test/support/few-runs.ts'],
  },
});
