/** The message shown to a person for an error that ends a program. */
import { NamespaceNotFoundError } from '@temporalio/common';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/api/errors.ts';
import { databaseProblem } from '../../src/lib/database-away.ts';
import { exitCodeOf, shownError, UserError } from '../../src/lib/user-error.ts';
import { sourceOf } from '../../src/temporal/rejection.ts';

test('a UserError is shown as one sentence, without a stack', () => {
  const error = new UserError('Say --url.');
  expect(shownError(error)).toBe('Say --url.');
  expect(exitCodeOf(error)).toBe(1);
});

test('a UserError may have its own exit code', () => {
  expect(exitCodeOf(new UserError('Stopped.', 130))).toBe(130);
});

test.each([new Error('out of luck'), new TypeError('out of luck'), new RangeError('out of luck')])(
  'a plain $name is shown with its stack, since it is a fault of the code',
  (error) => {
    expect(shownError(error)).toContain('out of luck\n    at ');
    expect(exitCodeOf(error)).toBe(1);
  },
);

test('a thrown value that is no Error is shown unchanged', () => {
  expect(shownError('nothing')).toBe('nothing');
});

test('a missing namespace is a failure of Temporal, although its client throws another class', () => {
  expect(sourceOf(new NamespaceNotFoundError('deliveries'))).toBe('temporal');
});

describe('an unusable database', () => {
  test.each(['ECONNREFUSED', 'EAI_AGAIN', 'EPIPE', 'ENETUNREACH', 'CONNECTION_SILENT'])(
    'is unavailable (%s): one sentence, an error of the database in the log, and 503 of the API',
    (code) => {
      const error = Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code });
      expect(databaseProblem(error)).toEqual(
        new UserError('The database at DATABASE_URL cannot be reached.'),
      );
      expect(sourceOf(error)).toBe('database');
      expect(failureOf(error, 'r-1').status).toBe(503);
    },
  );
  test('is too slow: one sentence, without a connection', () => {
    const message = 'canceling statement due to statement timeout';
    const error = Object.assign(new postgres.PostgresError(message), { message, code: '57014' });
    expect(databaseProblem(error)).toEqual(new UserError(`The database fails: ${message}.`));
  });
  test('is not blamed for another error', () => {
    const error = Object.assign(new Error('broken'), { code: 'EACCES' });
    expect(databaseProblem(error)).toBe(error);
  });
});
