/** A Temporal that loses its data, or stays unavailable past the window. */
import { until } from '../../test/support/until.ts';
import type { Fault, Scene } from '../fault.ts';
import { TooSlowError } from '../too-slow.ts';

/** The reconciler must find by itself what Temporal has lost, within this time: a minute, in milliseconds. */
const MENDED_WITHIN_MS = 60_000;

async function forgets(scene: Scene, how: () => Promise<void>): Promise<void> {
  const { temporal } = scene.stack;
  scene.logbook.workflowsLost = true;
  scene.logbook.graceMs = Math.max(scene.logbook.graceMs, MENDED_WITHIN_MS);
  await temporal.stop();
  await how();
}

export const wiped: Fault = {
  group: 'temporal',
  name: 'wiped',
  policies: ['scaled', 'hours'],
  injectionPoints: ['orders', 'slow', 12, 20],
  lasts: [0, 2_000],
  inject: (scene) => forgets(scene, scene.stack.temporal.wipe),
  heal: ({ stack }) => stack.temporal.start(),
};

const restored: Fault = {
  group: 'temporal',
  name: 'restored from an older copy',
  policies: ['scaled', 'hours'],
  injectionPoints: ['orders', 'slow', 12, 20],
  lasts: [0, 2_000],
  async prepare({ stack: { temporal } }) {
    await temporal.stop();
    await temporal.saveCopy();
    await temporal.start();
  },
  inject: (scene) => forgets(scene, scene.stack.temporal.restoreCopy),
  heal: ({ stack }) => stack.temporal.start(),
};

const away: Fault = {
  group: 'temporal',
  name: 'away past the window',
  policies: ['short'],
  injectionPoints: ['orders'],
  lasts: [6_000, 8_000],
  async inject({ stack, receivers, logbook }) {
    // The window begins with the first attempt.
    const failing = receivers.all.filter(({ outcome }) => outcome === 'failed');
    await until('a first attempt', async () => failing.every(({ arrivals }) => arrivals[0]?.status));
    // Without its workflow, it would be attempted again from the queue, Temporal or not.
    const webhookIds = failing.map(({ webhookId }) => webhookId);
    await until('their workflows', async () => {
      const queued = await stack.sql`
        select from deliveries where webhook_id = any(${webhookIds}::int[]) and dispatched_at is null limit 1`;
      return queued.length === 0;
    });
    if (failing.some(({ arrivals }) => arrivals.some(({ number }) => number > 1)))
      throw new TooSlowError('the last attempt came before Temporal was unavailable');
    await stack.temporal.stop();
    // Its window was lost by an outage: after the last chance the webhook stays active.
    for (const { webhookId } of failing) logbook.webhookExceptions.set(webhookId, ['expired']);
  },
  heal: ({ stack }) => stack.temporal.start(),
};

const awayTowardsTheEnd: Fault = {
  group: 'temporal',
  name: 'away towards the end of the window',
  policies: ['tight'],
  injectionPoints: [18, 19],
  // Longer than the window exceeds the waits, so that the last wait must be shortened.
  lasts: [8_000, 10_000],
  inject: ({ stack }) => stack.temporal.stop(),
  heal: ({ stack }) => stack.temporal.start(),
};

export const temporalFaults: readonly Fault[] = [wiped, restored, away, awayTowardsTheEnd];
