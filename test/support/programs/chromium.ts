/** `@sparticuz/chromium`, unpacked once per machine: its own function shows a second process half-written files. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import * as v from 'valibot';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.resolve('@sparticuz/chromium')));
const Version = v.object({ version: v.pipe(v.string(), v.regex(/^[\d.]+$/)) });

/** A program, and the folder of libraries for a machine that lacks them. */
export interface Unpacked {
  readonly program: string;
  readonly libraries: string;
}

function packed(name: string) {
  return createReadStream(join(PACKAGE, 'bin', name)).pipe(createBrotliDecompress());
}

async function unpackInto(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await pipeline(packed('chromium.br'), createWriteStream(join(folder, 'chromium'), { mode: 0o755 }));
  const archive = join(folder, 'libraries.tar');
  await pipeline(packed('al2023.tar.br'), createWriteStream(archive));
  const tar = spawn('tar', ['-xf', archive, '-C', folder], { stdio: 'inherit' });
  const [code] = await once(tar, 'exit');
  await rm(archive);
  if (code !== 0) throw new Error(`tar ended with ${code}.`);
}

/** Unpacks it unless that is done already. */
export async function unpackedChromium(): Promise<Unpacked> {
  const { version } = v.parse(Version, JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')));
  const folder = join(tmpdir(), `waybill-chromium-${version}-${userInfo().uid}`);
  const found = { program: join(folder, 'chromium'), libraries: join(folder, 'lib') };
  const there = await access(found.program).then(
    () => true,
    () => false,
  );
  if (there) return found;
  const begun = await mkdtemp(`${folder}-`);
  await unpackInto(join(begun, 'whole'));
  // If another process was faster, use its copy.
  await rename(join(begun, 'whole'), folder).catch(() => {});
  await rm(begun, { recursive: true, force: true });
  await access(found.program);
  return found;
}
