/** What the failure of a delivery's workflow says about the webhook and the mail. */
import { expect, test } from 'vitest';
import { whatFailed } from '../../workflows/delivery-endings.ts';

const failed = {
  state: 'failed',
  deactivatedGeneration: 3,
  attemptsMade: 21,
  lastError: 'HTTP 503 from shop.example after 212 ms',
} as const;
const ATTEMPTS = '21 attempts (HTTP 503 from shop.example after 212 ms)';

test.each([
  ['sent', 'its e-shop mailed'],
  ['dropped', 'its e-shop was not mailed: the e-mail no longer applied'],
  ['refused', 'the mail server refused the e-mail about it'],
  ['endedBefore', 'the e-mail about it had already been dealt with'],
  [null, 'there is no e-mail about it'],
] as const)('a deactivation whose mail ended as %s says that %s', (mailOutcome, mail) => {
  expect(whatFailed({ ...failed, mailOutcome })).toBe(
    `${ATTEMPTS}; the webhook was deactivated and ${mail}.`,
  );
});

test('a webhook that was not deactivated is said to be unchanged', () => {
  expect(whatFailed({ ...failed, deactivatedGeneration: null, mailOutcome: null })).toBe(
    `${ATTEMPTS}; the webhook was left as it is.`,
  );
});
