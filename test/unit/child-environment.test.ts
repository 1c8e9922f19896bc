import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { childEnvironment, runProgram } from '../../src/embedded/run-program.ts';
import { filesOf, importsOf } from '../support/repository/imports.ts';

it('a child process gets paths, locale and proxies, and nothing confidential', () => {
  const passed = {
    PATH: '/bin',
    HOME: '/home/me',
    LANG: 'C',
    LC_ALL: 'C',
    TZ: 'UTC',
    https_proxy: 'http://proxy:3128',
    PIP_INDEX_URL: 'https://index.example',
    GOMEMLIMIT: '1GiB',
    LD_LIBRARY_PATH: '/lib',
  };
  const kept = {
    SECRET_KEY: 'secret',
    SECRET_KEY_PREVIOUS: 'secret',
    SMTP_URL: 'smtp://me:secret@mail',
    DATABASE_URL: 'postgres://me:secret@db',
    TEMPORAL_API_KEY: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    NODE_OPTIONS: '--import ./mine.js',
    PGOPTIONS: '-c x=y',
  };
  expect(childEnvironment({ ...passed, ...kept })).toEqual(passed);
});

it('programs run in the root folder, without our confidential variables', async () => {
  process.env.SECRET_KEY = 'secret';
  onTestFinished(() => {
    delete process.env.SECRET_KEY;
  });
  const script = 'pwd; printenv SECRET_KEY || echo none';
  expect(await runProgram('sh', ['-c', script])).toBe('/\nnone\n');
});

it('only two files start programs', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const starting = ['src', 'activities', 'workflows']
    .flatMap((folder) => filesOf(root, folder))
    .filter((file) => importsOf(root, file).some(({ to }) => to === 'node:child_process'));
  expect(starting.sort()).toEqual(['src/embedded/run-program.ts', 'src/embedded/service.ts']);
});
