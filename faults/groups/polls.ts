/** Polls that Temporal refuses while it answers every other call: by status, and by how long. */
import {
  type GrpcProxy,
  NOT_FOUND,
  POLLS,
  type Rejection,
  startGrpcProxy,
  TOO_LARGE,
  UNAUTHENTICATED,
} from '../../test/support/servers/grpc-proxy.ts';
import type { Fault, Scene } from '../fault.ts';

/** After a rejection the SDK polls again within 10 s, and others take over within seconds; in milliseconds. */
const POLLS_AGAIN_WITHIN_MS = 15_000;

/** The proxy of each round: runners play side by side. */
const proxies = new WeakMap<Scene, GrpcProxy>();

async function routeThroughProxy(scene: Scene): Promise<void> {
  const { temporal, links } = scene.stack;
  const proxy = await startGrpcProxy(temporal.address);
  proxies.set(scene, proxy);
  links.workerToTemporal.aim(Number(proxy.address.split(':')[1]));
  links.workerToTemporal.cut();
}

async function restoreRoute(scene: Scene): Promise<void> {
  const { temporal, links } = scene.stack;
  links.workerToTemporal.aim(temporal.port);
  await proxies.get(scene)?.close();
}

function refused(name: string, rejection: Rejection, lasts: readonly [number, number]): Fault {
  return {
    // The later attempts are those that a worker takes from Temporal.
    policies: ['scaled'],
    injectionPoints: ['orders', 'slow', 1, 12],
    group: 'polls refused',
    name,
    lasts,
    prepare: routeThroughProxy,
    inject: async (scene) => proxies.get(scene)?.refuse(POLLS, rejection),
    async heal(scene) {
      proxies.get(scene)?.pass();
      scene.logbook.outages.push({ from: Date.now(), to: Date.now() + POLLS_AGAIN_WITHIN_MS });
    },
    finish: restoreRoute,
  };
}

export const pollFaults: readonly Fault[] = [
  refused('polls unauthenticated for a moment', UNAUTHENTICATED, [1_000, 15_000]),
  // Those sent at the beginning give up after a minute.
  refused('polls unauthenticated for long', UNAUTHENTICATED, [65_000, 75_000]),
  refused('polls not found', NOT_FOUND, [5_000, 40_000]),
  refused('polls given up at once', TOO_LARGE, [0, 3_000]),
];
