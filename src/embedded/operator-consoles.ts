/**
 * The operators' consoles that run on this machine, listed in `DATA_DIR`: the processes that deliver must know
 * their ports. The list has its own file, since the account that runs the command may not be that of the instance.
 */
import * as v from 'valibot';
import type { DataDir } from './data-dir.ts';
import { isListed } from './processes.ts';

/** The file that lists them. */
export const OPERATOR_CONSOLES = 'operator-consoles.json';

/** The instance's account must read it too, if another one runs the command; it holds nothing confidential. */
const READABLE = 0o644;

const noted = v.array(v.object({ pid: v.pipe(v.number(), v.integer(), v.minValue(1)), port: v.number() }));
/** A console: its process, and its port on 127.0.0.1. */
type OperatorConsole = v.InferOutput<typeof noted>[number];

/** Parses the file; empty if it is missing or broken. */
export function parseConsoles(text: string): OperatorConsole[] {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), noted), text);
  return result.success ? result.output : [];
}

/** The ports of consoles whose process exists: a killed one could not remove its entry. */
export function portsOf(consoles: readonly OperatorConsole[]): number[] {
  return consoles.filter(({ pid }) => isListed(pid)).map(({ port }) => port);
}

/**
 * Adds a console of this process to the list. Does nothing if the folder does not exist or is not writable, since
 * then no process here reads the list.
 * @returns a function that removes it
 */
export async function registerConsole(dataDir: DataDir, port: number): Promise<() => Promise<void>> {
  const mine = { pid: process.pid, port };
  const others = async () =>
    parseConsoles((await dataDir.read(OPERATOR_CONSOLES).catch(() => undefined)) ?? '').filter(
      (each) => isListed(each.pid) && !(each.pid === mine.pid && each.port === mine.port),
    );
  const save = async (consoles: readonly OperatorConsole[]) =>
    await dataDir.write(OPERATOR_CONSOLES, `${JSON.stringify(consoles)}\n`, READABLE).catch(() => {});
  await save([...(await others()), mine]);
  return async () => {
    const remaining = await others();
    if (remaining.length > 0) await save(remaining);
    // The folder may not be writable here either.
    else await dataDir.remove(OPERATOR_CONSOLES).catch(() => {});
  };
}
