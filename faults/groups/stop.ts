/** Graceful stops while there is work: attempts under way finish, none fails, none is cut off. */
import { type Fault, type Scene, usual } from '../fault.ts';
import type { ProgramPart } from '../stack/program.ts';
import type { Stack } from '../stack/stack.ts';

/** The time of an attempt, its grace, and a margin for a busy machine, in milliseconds. */
const STOPS_WITHIN_MS = 15_000;

async function stopInTime(part: ProgramPart, { logbook }: Scene): Promise<void> {
  const before = Date.now();
  await part.stop();
  const took = Date.now() - before;
  if (took > STOPS_WITHIN_MS) logbook.complaints.push(`${part.name} took ${took} ms to stop`);
  if (part.exitCode !== 0) logbook.complaints.push(`${part.name} ended with ${part.exitCode} when stopped`);
}

function stopped(name: string, parts: (stack: Stack) => readonly ProgramPart[]): Fault {
  return {
    group: 'stop',
    graceful: true,
    name: `${name} stopped gracefully`,
    ...usual,
    lasts: [0, 2_000],
    async inject(scene) {
      await Promise.all(parts(scene.stack).map((part) => stopInTime(part, scene)));
    },
    async heal({ stack }) {
      for (const part of parts(stack)) await part.start();
    },
  };
}

export const stopFaults: readonly Fault[] = [
  stopped('worker', ({ worker }) => [worker]),
  stopped('API', ({ api }) => [api]),
  stopped('both', ({ api, worker }) => [api, worker]),
];
