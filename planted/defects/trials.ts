/**
 * Defects of tests of webhooks.
 * @module
 */
import type { Defect } from '../defect.ts';

const file = 'test/api/webhook-test.test.ts';

export const trialDefects: readonly Defect[] = [
  {
    name: 'test-that-looks-real',
    file: 'src/attempt/trial.ts',
    text: '      test: true,\n',
    replacement: '',
    noticed: 'A receiver takes the sample of a test for an order.',
    caughtBy: [
      { file, tests: ['a test says what was sent and what came back, and nothing follows from it'] },
    ],
  },
  {
    name: 'tests-keep-database-turns',
    file: 'src/api/app.ts',
    text: 'except(TEST_PATH, inTurn)',
    replacement: 'inTurn',
    noticed: 'An e-shop whose receiver hangs cannot use the API while it tests its webhook.',
    caughtBy: [
      {
        file,
        tests: ['tests that hang leave the API alone, are bounded per e-shop, and leave room to another'],
      },
    ],
  },
  {
    name: 'tests-of-one-e-shop-without-bound',
    file: 'src/api/webhooks/trial.ts',
    text: 'perKey: 8 }',
    replacement: 'perKey: 50 }',
    noticed: 'One e-shop with a receiver that hangs takes all places for tests.',
    caughtBy: [
      {
        file,
        tests: ['tests that hang leave the API alone, are bounded per e-shop, and leave room to another'],
      },
    ],
  },
];
