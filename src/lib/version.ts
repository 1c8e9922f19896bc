import { existsSync, readFileSync } from 'node:fs';
import * as v from 'valibot';

// The file is two folders up from the sources, three from the build.
const [file = ''] = ['../../package.json', '../../../package.json']
  .map((path) => new URL(path, import.meta.url))
  .filter((candidate) => existsSync(candidate));

/** Waybill's version, from package.json. */
export const { version } = v.parse(
  v.pipe(v.string(), v.parseJson(), v.object({ version: v.string() })),
  readFileSync(file, 'utf8'),
);
