import { defineConfig } from 'vitest/config';
import { served } from './vitest.config.ts';

/** `npm run record-histories`: the scenarios are lived through again, one after the other. */
export default defineConfig({
  test: { ...served, include: ['test/replay/record.ts'] },
});
