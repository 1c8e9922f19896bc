/** The tests that decide about mutants: pure ones, without servers or processes. */
import { defineConfig } from 'vitest/config';

const pure = [
  'address-guard',
  'announced-lines',
  'catalogue',
  'decimal',
  'delivery-request',
  'destination',
  'failure-attribution',
  'failure-message',
  'fault',
  'limits',
  'local-names',
  'next-step',
  'order-status',
  'own-endpoints',
  'render',
  'retry-policy',
  'signature',
  'sscc',
  'timestamp',
  'turns',
];

export default defineConfig({
  test: {
    include: [...pure.map((name) => `test/unit/${name}.test.ts`), 'test/unit/{attempt,domain}/*.test.ts'],
    setupFiles: ['test/support/runner/few-runs.ts'],
  },
});
