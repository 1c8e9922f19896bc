/** Defects of tests of webhooks. */
import type { Defect } from '../defect.ts';

const file = 'test/api/webhook-test.test.ts';

export const testDeliveryDefects: readonly Defect[] = [
  {
    name: 'test-that-looks-real',
    file: 'src/attempt/test-sender.ts',
    text: '      test: true,\n',
    replacement: '',
    noticed: 'A receiver takes the sample of a test for an order.',
    caughtBy: [
      { file, tests: ['a test says what was sent and what came back, and nothing follows from it'] },
    ],
  },
  {
    name: 'recoveries-keep-database-turns',
    file: 'src/api/app.ts',
    text: 'except([TEST_PATH, RECOVER_PATH], inTurn)',
    replacement: 'except([TEST_PATH], inTurn)',
    noticed:
      'Two e-shops with millions of events have a recovery counted, and nobody can use the API for minutes.',
    caughtBy: [
      {
        file: 'test/api/recoveries.test.ts',
        tests: ['e-shops that have very many events counted keep nobody else waiting'],
      },
    ],
  },
  {
    name: 'logins-wait-without-bound',
    file: 'src/api/login.ts',
    text: 'places.run(addressOf(c), () => turn(ANYBODY, next))',
    replacement: 'turn(ANYBODY, next)',
    noticed:
      'One address that pipelines logins fills the memory of the API, and everybody else’s login waits behind them.',
    caughtBy: [
      {
        file: 'test/api/login.test.ts',
        tests: [
          'an address that sends very many logins at once is refused beyond a hundred, and nobody else is',
        ],
      },
    ],
  },
  {
    name: 'tests-keep-database-turns',
    file: 'src/api/app.ts',
    text: 'except([TEST_PATH, RECOVER_PATH], inTurn)',
    replacement: 'except([RECOVER_PATH], inTurn)',
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
    file: 'src/api/webhooks/test-delivery.ts',
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
