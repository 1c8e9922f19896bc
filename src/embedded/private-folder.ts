/** `DATA_DIR` closed to the other users of the machine. */
import { chmod, chown, readdir } from 'node:fs/promises';
import type { User } from './reachable.ts';

/** What an instance keeps in its folder. */
const OURS = new Set([
  'demonstration.json',
  'format',
  'instance.json',
  'lock',
  'logs',
  'mail',
  'operator-consoles.json',
  'postgres',
  'postgres-password',
  'postgres-port',
  'postgres-ready',
  'postgres-superuser-password',
  'postgres.log',
  'postgres.log.1',
  'secret-key',
  'secret-key-previous',
  'temporal',
  'temporal-port',
  'temporal-ui-port',
]);

/** True for what we write, and for a file of ours that is being written. */
const isOurs = (name: string) => OURS.has(name) || OURS.has(name.replace(/^\.(.+)\.[0-9a-f]+$/, '$1'));

/**
 * Lets only its owner into the folder. A folder that also contains other things keeps its mode: it may
 * be shared with others, and what is confidential in it has a mode of its own.
 * @param guest a user who has to pass through to folders of its own inside: may enter by its group, and list nothing
 */
export async function restrictFolder(path: string, guest?: User): Promise<void> {
  if (!(await readdir(path)).every(isOurs)) return;
  if (guest === undefined) return await chmod(path, 0o700);
  await chown(path, process.getuid?.() ?? 0, guest.gid);
  await chmod(path, 0o710);
}
