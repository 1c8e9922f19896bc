/** Postgres fails over: its standby is promoted, and for a while the name still leads to the old server. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Fault, type Scene, usual } from '../fault.ts';
import { firstNode, type Node, startStandby } from '../stack/standby.ts';

/** The pair of a round. */
const pairs = new WeakMap<Scene, { readonly first: Node; readonly standby: Node; readonly folder: string }>();

function pairOf(scene: Scene) {
  const pair = pairs.get(scene);
  if (pair === undefined) throw new Error('This round has no standby.');
  return pair;
}

/** One server takes over from the other, which is stopped and may come back as its standby. No commit is lost. */
async function takeOver(from: Node, to: Node): Promise<void> {
  await from.stop();
  await to.promote();
  await from.follow(to);
}

function promoted(what: string, oldOneAnswers: boolean): Fault {
  return {
    group: 'standby',
    name: `promoted, ${what}`,
    ...usual,
    lasts: [1_000, 6_000],
    async prepare(scene) {
      const { postgres, directory } = scene.stack;
      const folder = join(directory, 'standby');
      await rm(folder, { recursive: true, force: true });
      const standby = await startStandby(postgres, folder);
      pairs.set(scene, { first: firstNode(postgres), standby, folder });
    },
    async inject(scene) {
      const { first, standby } = pairOf(scene);
      await takeOver(first, standby);
      scene.stack.aimAtPostgres('the harness', standby.port);
      if (oldOneAnswers) await first.start();
    },
    async heal(scene) {
      const { first, standby } = pairOf(scene);
      scene.stack.aimAtPostgres('everybody', standby.port);
      if (!oldOneAnswers) await first.start();
    },
    async finish(scene) {
      // If the pair could not be made, that failure is the one to report.
      const pair = pairs.get(scene);
      if (pair === undefined) return;
      const { first, standby, folder } = pair;
      await takeOver(standby, first);
      scene.stack.aimAtPostgres('everybody', first.port);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const standbyFaults: readonly Fault[] = [
  promoted('the old one at its name, read-only', true),
  promoted('nobody at its name', false),
];
