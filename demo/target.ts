/** The instance that the day is played against, and the credentials. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { parseCredentials } from '../src/app/accounts.ts';
import type { Settings } from '../src/config/variables.ts';
import { dataDirAt } from '../src/embedded/data-dir.ts';
import { optional } from '../src/lib/command-line.ts';
import { UserError } from '../src/lib/user-error.ts';
import type { DemoCredentials } from './client.ts';

/** The options that select them. */
export interface TargetOptions {
  readonly url?: string | undefined;
  readonly credentials?: string | undefined;
}

export const webAddress = (name: string) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      `${name} must be a URL beginning with http:// or https://.`,
    ),
  );

/** For a command that calls an instance: see {@link instanceUrl}. */
export const urlOption = optional(
  '--url <url>',
  'URL of the instance; default: the one in DATA_DIR, else the one at HOST and PORT',
  webAddress,
);

/** `--url`, else the instance running in `DATA_DIR`, else the one at `HOST` and `PORT`. */
export async function instanceUrl(options: TargetOptions, settings: Settings): Promise<string> {
  const host = settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST;
  const known = (await dataDirAt(settings.DATA_DIR).readInstance()).apiUrl;
  return options.url ?? known ?? `http://${host}:${settings.PORT}`;
}

/**
 * `--credentials`, else the demonstration e-shop of the instance in `DATA_DIR`.
 * @throws UserError if there are none
 */
export async function loginOf(options: TargetOptions, settings: Settings): Promise<DemoCredentials> {
  const { credentials: file } = options;
  const text =
    file === undefined
      ? await dataDirAt(settings.DATA_DIR).read('demonstration.json')
      : await readFile(file, 'utf8').catch(() => {
          throw new UserError(`--credentials: ${file} cannot be read.`);
        });
  const known = parseCredentials(text);
  if (known !== undefined) return known;
  throw new UserError(
    file === undefined
      ? `There is no demonstration e-shop in DATA_DIR=${settings.DATA_DIR}: set DATA_DIR to that of the running instance, or give --credentials.`
      : `--credentials: ${file} is not what waybill eshop create --json prints.`,
  );
}
