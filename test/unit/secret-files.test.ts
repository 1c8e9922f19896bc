/** Confidential variables from files. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { readSettings } from '../../src/config/config.ts';
import { withSecretFiles } from '../../src/config/secret-files.ts';
import { UserError } from '../../src/lib/user-error.ts';
import { folderOfTest } from '../support/ends.ts';

let directory: string;
beforeEach(async () => {
  directory = await folderOfTest('waybill-secrets-');
});

it('a value is read from its file without the line break, and other variables stay', async () => {
  const file = join(directory, 'key');
  await writeFile(file, 'confidential\n');
  const env = { SECRET_KEY_FILE: file, DATABASE_URL: 'postgres://here', PORT: '1', PORT_FILE: 'unread' };
  expect(withSecretFiles(env)).toMatchObject({
    SECRET_KEY: 'confidential',
    DATABASE_URL: 'postgres://here',
    PORT: '1',
  });
});

it('a missing file, and a variable that is set both ways, are refused in one sentence', () => {
  const file = join(directory, 'none');
  expect(() => withSecretFiles({ SMTP_URL_FILE: file })).toThrow(
    new UserError(
      'SMTP_URL_FILE must name a file that can be read (ENOENT): it holds a path, not the value.',
    ),
  );
  expect(() => withSecretFiles({ SECRET_KEY: 'hidden', SECRET_KEY_FILE: file })).toThrow(
    new UserError('SECRET_KEY and SECRET_KEY_FILE must not both be set.'),
  );
});

it('a missing or wrong value is reported with the variable of its file', async () => {
  const file = join(directory, 'empty');
  const error = async (value: string) => {
    await writeFile(file, value);
    return () => readSettings(withSecretFiles({ SECRET_KEY_FILE: file }));
  };
  expect(await error('\n')).toThrow(
    new UserError(
      'SECRET_KEY_FILE must name a file that is not empty: leave it out for the default of SECRET_KEY.',
    ),
  );
  expect(await error('short')).toThrow(/^SECRET_KEY, from SECRET_KEY_FILE, must be 32 bytes in base64/);
});

it('the variable’s value is never shown, and only files are read', () => {
  const error = (value: string) => {
    try {
      withSecretFiles({ DATABASE_URL_FILE: value });
      return '';
    } catch (thrown) {
      return String(thrown);
    }
  };
  expect(error('postgres://waybill:hidden@db/waybill')).toContain('(ENOENT)');
  expect(error('postgres://waybill:hidden@db/waybill')).not.toContain('hidden');
  expect(error('/dev/zero')).toContain('(not a file)');
});

it("a collector's headers are left to OpenTelemetry", () => {
  expect(withSecretFiles({ OTEL_EXPORTER_OTLP_HEADERS_FILE: '/none' })).not.toHaveProperty(
    'OTEL_EXPORTER_OTLP_HEADERS',
  );
});
