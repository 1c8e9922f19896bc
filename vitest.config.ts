import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const ROOT = new URL('test/', import.meta.url);

/** The files of these folders share modules: to load them anew for each would take as long as running half of the tests. */
const SHARED = ['api', 'cli', 'contract', 'db', 'mail', 'receiver', 'unit'];
/** They replace modules for themselves. */
const ALONE = ['test/api/login-verifies.test.ts'];

const testsOf = (folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);
const others = readdirSync(ROOT).filter((name) => !SHARED.includes(name));
const common = { pool: 'forks', testTimeout: 90_000, hookTimeout: 120_000 } as const;

export default defineConfig({
  test: {
    // The tests wait more than they compute.
    maxWorkers: Math.max(4, Math.ceil(availableParallelism() / 2)),
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      {
        test: {
          ...common,
          name: 'shared modules',
          isolate: false,
          include: testsOf(SHARED),
          exclude: [...configDefaults.exclude, ...ALONE],
        },
      },
      { test: { ...common, name: 'own modules', include: [...testsOf(others), ...ALONE] } },
    ],
  },
});
