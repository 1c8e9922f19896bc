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

it('takes a value without its line break from the file; all else stays', async () => {
  const file = join(directory, 'key');
  await writeFile(file, 'confidential\n');
  const env = { SECRET_KEY_FILE: file, DATABASE_URL: 'postgres://here', PORT: '1', PORT_FILE: 'unread' };
  expect(withSecretFiles(env)).toMatchObject({
    SECRET_KEY: 'confidential',
    DATABASE_URL: 'postgres://here',
    PORT: '1',
  });
});

it('refuses in one sentence a file that is missing, and a variable that is set both ways', () => {
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

it('names the variable of the file if its value is missing or wrong', async () => {
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

it('never shows the variable, which may hold the value by mistake, and reads nothing but files', () => {
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

it("leaves a collector's headers to OpenTelemetry, which reads its variable itself", () => {
  expect(withSecretFiles({ OTEL_EXPORTER_OTLP_HEADERS_FILE: '/none' })).not.toHaveProperty(
    'OTEL_EXPORTER_OTLP_HEADERS',
  );
});
