/** The tests that decide about mutants: pure ones, without servers. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts'],
    // They read the repository or start processes.
    exclude: [
      'architecture',
      'bench-figures',
      'compose',
      'data-dir',
      'data-files',
      'demo',
      'demo-runner',
      'readme',
      'temporal-binary',
      'package-lock',
      'tcp-proxy',
      'policy-table',
      'keys',
      'config',
      'address-guard',
      'signature',
      'delivery-request',
      'next-step',
    ].map((name) => `test/unit/${name}.test.ts`),
  },
});
