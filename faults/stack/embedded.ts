/**
 * Waybill as `npm start` runs it on a bare machine: one process in all roles, with its own Postgres and Temporal, and
 * mails as files.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { createPool, type Pool } from '../../src/db/connection/pool.ts';
import { openDataDir } from '../../src/embedded/data-dir.ts';
import type { Shutdown } from '../../src/lib/shutdown.ts';
import { signalTree } from '../../test/support/harness/processes.ts';
import { temporaryFolder } from '../../test/support/harness/temporary-folder.ts';
import { processesOf } from '../../test/support/programs/npm-start.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import { createReceiver } from '../../test/support/servers/receiver.ts';
import { policyVariables } from '../policies.ts';
import { mountSmallDisk, type SmallDisk } from './disk.ts';
import { createProgramPart, type ProgramPart } from './program.ts';
import { type BasicStack, RECEIVER_HOST } from './stack.ts';

/** More log files than Postgres keeps ready. */
const MAX_LOG_FILES = 20;

/** A running instance. */
export interface EmbeddedStack extends BasicStack {
  readonly program: ProgramPart;
  /** Null if its data are on the disk of this machine. */
  readonly disk: SmallDisk | null;
  /** Makes Postgres want new files for its log. On a full disk it crashes, as after much work. */
  turnLog(): Promise<void>;
  /** Sends SIGKILL to the program and both its servers. */
  killEverything(): Promise<void>;
}

/**
 * Starts it with its first `prepare`.
 * @param smallDisk whether its data are on a disk of their own that can be filled
 */
export async function startEmbeddedStack(shutdown: Shutdown, smallDisk: boolean): Promise<EmbeddedStack> {
  const directory = await temporaryFolder(shutdown);
  const disk = smallDisk ? await mountSmallDisk(join(directory, 'data'), shutdown) : null;
  const port = await freePort();
  const program = createProgramPart('Waybill', {
    DATA_DIR: join(directory, 'data'),
    PORT: String(port),
    DELIVERY_ALLOW_CIDRS: `${RECEIVER_HOST}/32`,
  });
  await shutdown.add(async () => {
    await program.stop();
    // If a round ended between a kill and its restart, its servers may still run.
    for (const pid of await processesOf(directory)) signalTree(pid, 'SIGKILL');
  });
  const forbidden = await createReceiver();
  await shutdown.add(() => forbidden.close());
  const dataDir = await openDataDir(join(directory, 'data'));
  let sql: Pool | undefined;
  await shutdown.add(async () => sql?.end({ timeout: 5 }));

  return {
    apiUrl: `http://127.0.0.1:${port}`,
    program,
    disk,
    programs: [program],
    forbidden,
    get sql() {
      if (sql === undefined) throw new Error('The instance has not been started.');
      return sql;
    },
    async prepare({ policy, workflows }) {
      await program.runWith({ ...policyVariables(policy), WORKFLOWS: workflows });
      // The port of its Postgres stays the same across restarts.
      sql ??= createPool((await dataDir.readInstance()).databaseUrl ?? '', 2);
    },
    temporalAddress: async () => (await dataDir.readInstance()).temporalAddress ?? '',
    async mailsTo(address) {
      const folder = dataDir.join('mail');
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml'));
      const mails = await Promise.all(
        names.map(async (name) => PostalMime.parse(await readFile(join(folder, name)))),
      );
      const own = mails.filter(({ to }) => to?.[0]?.address === address);
      return own.map(({ messageId }) => messageId ?? '');
    },
    async turnLog() {
      const password = (await dataDir.read('postgres-superuser-password')) ?? '';
      const { databaseUrl = '' } = await dataDir.readInstance();
      const url = Object.assign(new URL(databaseUrl), { username: 'postgres', password });
      const admin = createPool(url.href, 1);
      const turned = () =>
        admin`select pg_logical_emit_message(true, '', ''), pg_switch_wal()`.then(
          () => true,
          () => false,
        );
      for (let files = 0; files < MAX_LOG_FILES && (await turned()); files += 1);
      await admin.end({ timeout: 1 });
    },
    async killEverything() {
      const servers = await processesOf(directory);
      await program.kill();
      for (const pid of servers) signalTree(pid, 'SIGKILL');
    },
  };
}
