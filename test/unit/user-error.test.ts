/** The message shown to a person for an error that ends a program. */
import { NamespaceNotFoundError } from '@temporalio/common';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/api/errors.ts';
import { databaseProblem } from '../../src/lib/database-away.ts';
import { exitCodeOf, shownError, UserError } from '../../src/lib/user-error.ts';
import { sourceOf } from '../../src/temporal/rejection.ts';

test('a UserError is its one sentence, without a stack', () => {
  const error = new UserError('Say --url.');
  expect(shownError(error)).toBe('Say --url.');
  expect(exitCodeOf(error)).toBe(1);
});

test('an exit code of its own', () => {
  expect(exitCodeOf(new UserError('Stopped.', 130))).toBe(130);
});

test.each([new Error('out of luck'), new TypeError('out of luck'), new RangeError('out of luck')])(
  'a plain $name keeps its stack: it is a fault of the code',
  (error) => {
    expect(shownError(error)).toContain('out of luck\n    at ');
    expect(exitCodeOf(error)).toBe(1);
  },
);

test('what is no error at all is shown as it is', () => {
  expect(shownError('nothing')).toBe('nothing');
});

test('a namespace that is gone is a failure of Temporal, although its client throws another class', () => {
  expect(sourceOf(new NamespaceNotFoundError('deliveries'))).toBe('temporal');
});

describe('a database that cannot be used', () => {
  test.each(['ECONNREFUSED', 'EAI_AGAIN', 'EPIPE', 'ENETUNREACH', 'CONNECTION_SILENT'])(
    'away (%s): a sentence, an error of the database in the log, and 503 of the API',
    (code) => {
      const error = Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code });
      expect(databaseProblem(error)).toEqual(
        new UserError('The database at DATABASE_URL cannot be reached.'),
      );
      expect(sourceOf(error)).toBe('database');
      expect(failureOf(error, 'r-1').status).toBe(503);
    },
  );
  test('too slow: a sentence that names no connection', () => {
    const message = 'canceling statement due to statement timeout';
    const error = Object.assign(new postgres.PostgresError(message), { message, code: '57014' });
    expect(databaseProblem(error)).toEqual(new UserError(`The database fails: ${message}.`));
  });
  test('any other error stays what it is', () => {
    const error = Object.assign(new Error('broken'), { code: 'EACCES' });
    expect(databaseProblem(error)).toBe(error);
  });
});
