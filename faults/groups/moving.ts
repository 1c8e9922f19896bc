/**
 * Receivers whose name moves to another address while traffic keeps their connections from falling idle. The worker's
 * clock goes ahead: no round waits for the greatest age of a connection.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_CONNECTION_AGE_MS } from '../../src/delivery/sender.ts';
import { violation } from '../check/violation.ts';
import { readRows } from '../evidence.ts';
import type { Fault, Scene } from '../fault.ts';
import type { Receiver, Script } from '../receivers.ts';
import { NEXT_HOST, RECEIVER_HOST } from '../stack/stack.ts';
import { TAKES_EFFECT_MS } from './clock.ts';

/** The orders before the clock goes ahead, and after. */
const ORDERS = 8;
/** The time between two of them, in milliseconds: many within the time after which an idle connection is closed. */
const PACE_MS = 120;

interface Move {
  readonly receiver: Receiver;
  /** Orders sent once no connection to its old address may be in use. */
  readonly later: string[];
  move(): void;
}

const moves = new WeakMap<Scene, Move>();

async function order(scene: Scene, name: string): Promise<string[]> {
  const ids = Array.from({ length: ORDERS }, (_, index) => `${name}-${scene.shop.eshopId}-${index}`);
  for (const id of ids) {
    await scene.shop.createOrder(id);
    await sleep(PACE_MS);
  }
  return ids;
}

/** @param old what the old address answers once the name has moved */
function moved(name: string, old: number, policies: Fault['policies']): Fault {
  return {
    group: 'moving receivers',
    name,
    policies,
    injectionPoints: ['orders', 'slow'],
    harmless: true,
    async prepare(scene) {
      const { stack, shop, receivers } = scene;
      const host = `moving.eshop-${shop.eshopId}.test`;
      stack.names.set(host, [RECEIVER_HOST]);
      let hasMoved = false;
      const script: Script = {
        type: 'CREATE_ORDER',
        outcome: 'delivered',
        status: (_, at) => (hasMoved && at === RECEIVER_HOST ? old : 200),
      };
      const hosts = [RECEIVER_HOST, NEXT_HOST];
      const receiver = await receivers.open('moving', script, { name: host, hosts });
      moves.set(scene, {
        receiver,
        later: [],
        move() {
          hasMoved = true;
          stack.names.set(host, [NEXT_HOST]);
        },
      });
    },
    async inject(scene) {
      const move = moves.get(scene);
      move?.move();
      await order(scene, 'moved');
      await scene.stack.shiftWorkerClock(MAX_CONNECTION_AGE_MS);
      await sleep(TAKES_EFFECT_MS);
      move?.later.push(...(await order(scene, 'later')));
    },
    async settle(scene) {
      const { receiver, later } = moves.get(scene) ?? {};
      const { deliveries } = await readRows(scene.stack.sql, scene.shop.eshopId);
      const entities = new Map(deliveries.map(({ id, entityId }) => [id, entityId]));
      for (const { deliveryId, host } of receiver?.arrivals ?? []) {
        const entityId = entities.get(deliveryId) ?? '';
        if (host === NEXT_HOST || later?.includes(entityId) !== true) continue;
        scene.logbook.found.push(
          violation('wrong', `${entityId} came to the address that its name had left`),
        );
      }
    },
  };
}

export const movingFaults: readonly Fault[] = [
  moved('moved, and the old address serves too', 200, ['scaled', 'hours']),
  moved('moved, and the old address refuses', 503, ['scaled']),
];
