/** Limits that count what they must not count. */
import type { Defect } from '../defect.ts';

export const limitDefects: readonly Defect[] = [
  {
    name: 'limit-counts-deleted-webhooks',
    file: 'src/db/webhooks/webhooks.ts',
    text: ' and deleted_at is null`;\n  return row?.count',
    replacement: '`;\n  return row?.count',
    noticed: 'An e-shop that replaces its webhooks often can create none any more.',
    caughtBy: [{ file: 'test/api/webhooks.test.ts', tests: ['a deleted webhook makes room for another'] }],
  },
  {
    name: 'limit-of-an-address-used-up-by-successes',
    file: 'src/db/login-limits.ts',
    text: '      for (const { limiter, key } of limitsOf(attempt)) if (limiter !== accounts) await limiter.reward(key);\n',
    replacement: '',
    noticed: 'An address from which 300 people log in within a quarter of an hour is locked out.',
    caughtBy: [
      { file: 'test/api/login.test.ts', tests: ['the limit of an address is not used up by successes'] },
    ],
  },
];
