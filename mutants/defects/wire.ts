/** What a receiver sees on the wire. */
import type { Defect } from '../defect.ts';

const rotation = (...tests: string[]) => [{ file: 'test/workflow/rotation.test.ts', tests }];
const OVERLAP =
  'for 24 hours the old secret signs beside the new one, the newest first; then it signs no more';

export const wireDefects: readonly Defect[] = [
  {
    name: 'rotation-old-secret-does-not-sign',
    file: 'src/attempt/prepare.ts',
    text: '    secrets.push(keys.decryptSecret(previousSecret, delivery));',
    replacement: '    secrets.push(keys.decryptSecret(delivery.secret, delivery));',
    noticed: 'A receiver that still has the old secret refuses everything from the moment of the rotation.',
    caughtBy: rotation(OVERLAP),
  },
  {
    name: 'rotation-old-secret-signs-for-ever',
    file: 'src/attempt/prepare.ts',
    text: ' && previousSecretUntil > now) {',
    replacement: ') {',
    noticed: 'A leaked secret that was replaced still verifies.',
    caughtBy: rotation(OVERLAP),
  },
  {
    name: 'rotation-without-overlap-keeps-the-old-secret',
    file: 'src/db/webhooks/webhooks.ts',
    text: '    // One statement: the right-hand sides',
    replacement: '    overlap = true;\n    // One statement: the right-hand sides',
    noticed: 'overlap=0 after a leak: the leaked secret still signs.',
    caughtBy: rotation(
      'a second rotation ends the oldest secret; one without overlap ends the one before at once',
    ),
  },
  {
    name: 'request-after-the-webhook-was-deleted',
    file: 'src/attempt/decisions.ts',
    text: "  if (delivery.deletedAt !== null) return 'deleted';\n",
    replacement: '',
    noticed: 'A receiver is called for a webhook that its e-shop has deleted.',
    caughtBy: [
      {
        file: 'test/workflow/webhook-changed.test.ts',
        tests: ['deleted before its first attempt: no request leaves'],
      },
    ],
  },
  {
    name: 'exempt-range-lets-every-address-of-a-name-through',
    file: 'src/delivery/connector.ts',
    text: '.filter(({ address }) => guard.refusal(address, port) === null)',
    replacement: '.filter(({ address }) => address !== "")',
    noticed: 'A name with one exempt address opens connections to its private ones.',
    caughtBy: [
      {
        file: 'test/delivery/connections.test.ts',
        tests: ['private destinations an exempt range lets a name through to its exempt addresses alone'],
      },
    ],
  },
  {
    name: 'answer-read-to-its-end',
    file: 'src/delivery/exchange.ts',
    text: 'return length < BODY_BYTES;',
    replacement: 'return length >= 0;',
    noticed: 'Receivers with long answers take up the worker and its memory.',
    caughtBy: [
      {
        file: 'test/delivery/sender.test.ts',
        tests: [
          'answers that are too slow or too much of a body that is endless the first part is read and the connection closed',
        ],
      },
    ],
  },
  {
    name: 'login-verifies-only-where-there-is-a-user',
    file: 'src/api/credentials.ts',
    text: 'await verifyPassword(user?.passwordHash ?? (await dummyHash), password)',
    replacement: 'user !== null && (await verifyPassword(user.passwordHash, password))',
    noticed: 'The time of a refused login tells whether a name exists.',
    caughtBy: [
      {
        file: 'test/api/login-verifies.test.ts',
        tests: [
          'a wrong password, an unknown name and a wrong key each cost one verification of the same kind',
        ],
      },
    ],
  },
];
