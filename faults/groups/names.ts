/** Receivers behind names: name servers that are silent, unavailable, or change their answers. */
import type { Fault, Scene } from '../fault.ts';
import type { Script } from '../receivers.ts';
import { RECEIVER_HOST } from '../stack/stack.ts';

/** One more than Node's thread pool has threads. */
const SILENT_NAMES = 5;

const healthy: Script = { type: 'CREATE_ORDER', outcome: 'delivered', status: () => 200, closes: true };
const hopeless: Script = { type: 'UPDATE_ORDER_STATUS', outcome: 'failed', status: () => 200 };

/** A name that no other round uses. */
function nameOf({ shop }: Scene, what: string): string {
  return `${what}.eshop-${shop.eshopId}.test`;
}

const silentNames: Fault = {
  group: 'receiver',
  name: 'name servers of others silent',
  policies: ['few'],
  async prepare(scene) {
    const { stack, receivers } = scene;
    for (let index = 0; index < SILENT_NAMES; index += 1) {
      const name = nameOf(scene, `silent-${index}`);
      stack.names.set(name, 'silent');
      await receivers.open(`silent ${index}`, hopeless, { name, unseen: true });
    }
    const name = nameOf(scene, 'answering');
    stack.names.set(name, [RECEIVER_HOST]);
    await receivers.open('named', healthy, { name });
  },
};

const resolverAway: Fault = {
  group: 'receiver',
  name: 'our resolver unavailable',
  policies: ['hours', 'scaled'],
  injectionPoints: ['orders'],
  lasts: [2_000, 8_000],
  async prepare(scene) {
    const name = nameOf(scene, 'answering');
    scene.stack.names.set(name, [RECEIVER_HOST]);
    await scene.receivers.open('named', healthy, { name });
  },
  inject: async ({ stack }) => stack.names.answerAll(false),
  heal: async ({ stack }) => stack.names.answerAll(true),
};

/** A name that resolves to other addresses for a while. */
function elsewhere(name: string, answer: readonly string[] | 'nxdomain'): Fault {
  return {
    group: 'receiver',
    name,
    policies: ['scaled'],
    injectionPoints: ['orders'],
    lasts: [1_000, 4_000],
    async prepare(scene) {
      const { stack, receivers } = scene;
      const host = nameOf(scene, 'moving');
      stack.names.set(host, [RECEIVER_HOST]);
      // On the port of the server that must not be reached; no receiver sees some of the attempts.
      const port = stack.forbidden.port;
      await receivers.open('moving', healthy, { name: host, port, unseen: true });
    },
    inject: async (scene) => scene.stack.names.set(nameOf(scene, 'moving'), answer),
    heal: async (scene) => scene.stack.names.set(nameOf(scene, 'moving'), [RECEIVER_HOST]),
  };
}

export const nameFaults: readonly Fault[] = [
  silentNames,
  resolverAway,
  elsewhere('name gone for a while', 'nxdomain'),
  elsewhere('name rebound to a private address', ['127.0.0.1']),
  elsewhere('name leads to a private address too', [RECEIVER_HOST, '127.0.0.1']),
];
