import { defineConfig } from 'vitest/config';
import { run } from './vitest.config.ts';

/** `npm run record-histories`: the scenarios are lived through again, one after the other. */
export default defineConfig({
  test: { ...run, include: ['test/replay/record.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
});
