/** Mails as `.eml` files, if no mail server is configured. */
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes a message, whole or not at all, unless there is one with this Message-ID. Files sort by time:
 * `20261120T193300123Z-<hash of the Message-ID>.eml`. The folder is created with the first mail.
 * @throws the error of the file system
 */
export async function writeEml(directory: string, messageId: string, message: Uint8Array): Promise<void> {
  // Mails name receivers and their errors. An existing folder may be readable by others.
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o700);
  const ending = `-${createHash('sha256').update(messageId).digest('hex').slice(0, 16)}.eml`;
  const names = await readdir(directory);
  if (names.some((name) => name.endsWith(ending))) return;
  const temporary = join(directory, `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(message);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(directory, `${new Date().toISOString().replace(/[-:.]/g, '')}${ending}`));
  } catch (error) {
    // The first error matters; it may not even have been created.
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
