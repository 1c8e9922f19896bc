/** A disk that is full, with everything on it: Postgres, Temporal, and the mails. */
import pLimit from 'p-limit';
import type { EmbeddedFault, Scene } from '../fault.ts';
import type { EmbeddedStack } from '../stack/embedded.ts';
import { untilReady } from '../stack/stack.ts';

/** Orders sent during the fault: more than there is room for in the pages and the log that Postgres has already. */
const ORDERS = 60;
const CLIENTS = 4;

/** The orders under way. */
const sending = new WeakMap<Scene<EmbeddedStack>, Promise<unknown>>();

const full = (name: string, inject: (stack: EmbeddedStack) => Promise<void>): EmbeddedFault => ({
  embedded: true,
  smallDisk: true,
  group: 'disk full',
  name,
  policies: ['scaled', 'hours'],
  injectionPoints: ['orders', 'slow', 1, 12, 19, 20],
  lasts: [2_000, 12_000],
  async inject(scene) {
    const { stack, shop } = scene;
    await stack.disk?.fill();
    await inject(stack);
    const ids = Array.from({ length: ORDERS }, (_, index) => `full-${shop.eshopId}-${index}`);
    const sent = pLimit(CLIENTS).map(ids, shop.createOrder);
    sent.catch(() => {});
    sending.set(scene, sent);
  },
  async heal(scene) {
    const { stack } = scene;
    await stack.disk?.free();
    // A crashed server is started again, with growing pauses of up to 10 s.
    await untilReady(stack.apiUrl);
    await sending.get(scene);
  },
  finish: async ({ stack }) => stack.disk?.free(),
});

export const diskFaults: readonly EmbeddedFault[] = [
  full('no room for new rows', async () => {}),
  full('no room for the log of Postgres', (stack) => stack.turnLog()),
];
