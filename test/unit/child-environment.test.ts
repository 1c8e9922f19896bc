import { expect, it } from 'vitest';
import { childEnvironment } from '../../src/embedded/child-environment.ts';

it('passes on where programs are found and how they speak, and nothing that is confidential', () => {
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
