/**
 * One round: an e-shop sends orders, a fault is injected and healed, everything ends, and the checker judges.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../demo/random.ts';
import { isOpen } from '../src/domain/delivery-state.ts';
import { maxAttempts, type RetryPolicy, waits } from '../src/domain/retry-policy.ts';
import { later } from '../test/support/later.ts';
import { withTemporal } from '../test/support/temporal/workflows.ts';
import { check, type Verdict } from './check/check.ts';
import { type Evidence, readRows } from './evidence.ts';
import type { Fault, Scene } from './fault.ts';
import { newLogbook } from './logbook.ts';
import { busyMs, deadlinePassed, watchMachine } from './machine.ts';
import type { OrderedSize } from './ordered-size.ts';
import type { Round } from './plan.ts';
import { policyOf } from './policies.ts';
import { openReceivers } from './receivers.ts';
import { openShop } from './shop.ts';
import type { BasicStack } from './stack/stack.ts';
import { withWorkflow } from './temporal-workflows.ts';
import { TooSlowError } from './too-slow.ts';

/** The options that all rounds share. */
export interface RoundOptions {
  /** How late an attempt may be beyond plan and outage, in milliseconds. */
  readonly graceMs: number;
  readonly ordered: OrderedSize;
  /** The number of kills in a round that kills at every moment. */
  readonly kills: number;
}

/** The result of a round. */
export interface Played {
  readonly round: Round;
  readonly verdict: Verdict;
  /** In whole milliseconds. */
  readonly tookMs: number;
  /** How much of that the machine was busy with other things, in milliseconds. */
  readonly busyMs: number;
  /** What was late in earlier plays of it on a machine too busy to judge it, or why its fault was never injected. */
  readonly discarded: readonly string[];
  /** Why it could not be played; it then says nothing about the fault. */
  readonly unplayed?: string;
  /** Waybill's output in a broken round. */
  readonly logFile?: string;
}

/** If the injection point is not reached by then, in milliseconds, the round itself is at fault. */
const INJECTION_TIMEOUT_MS = 180_000;
const POLL_MS = 200;
/** The time between two checks whether the injection point can still be reached, in milliseconds. */
const WINDOW_CHECK_INTERVAL_MS = 1_000;
/** How late the death of a mailing worker is noticed, in milliseconds: if sooner, mails would be sent twice. */
const LOST_MAIL_NOTICED_MS = 75_000;
/** The longest time in which no workflow of an ended delivery is started, in milliseconds. */
const QUEUE_DRAINED_MS = 60_000;
/** A round does not wait for retries with longer waits than this, in milliseconds. */
const MAX_WAITED_MS = 60_000;

/**
 * Plays a round on a stack, which is intact again afterwards.
 * @throws TooSlowError
 */
export async function playRound<S extends BasicStack>(
  stack: S,
  round: Round,
  fault: Fault<S>,
  { graceMs, ordered, kills }: RoundOptions,
): Promise<Played> {
  const started = Date.now();
  const { policy } = round;
  await stack.prepare(round);
  const outputBefore = stack.programs.map((part) => part.output().length);
  const logbook = newLogbook(graceMs);
  const name = `round-${round.seed}-${round.index}-${Date.now().toString(36)}`.toLowerCase();
  const machine = watchMachine();
  const shop = await openShop(stack.sql, stack.apiUrl, name, logbook, machine);
  const receivers = await openReceivers(policy, shop.subscribe);
  const random = randomFrom(`${round.seed}/${round.index}/fault`);
  const scene: Scene<S> = { stack, shop, receivers, logbook, machine, random, ordered, kills };
  try {
    await fault.prepare?.(scene);
    const [half, halfway] = later();
    const injectionPoint = round.injectionPoint === 'orders' ? half : receivers.reached(round.injectionPoint);
    const sent = shop.sendOrders(round.orders, round.burst, (accepted) => {
      if (accepted >= round.orders / 2) halfway();
    });
    // Awaited below.
    sent.catch(() => {});
    await reach(injectionPoint, scene, round);
    const from = Date.now();
    await fault.inject?.(scene);
    await sleep(round.lastsMs);
    await fault.heal?.(scene);
    if (fault.harmless !== true)
      logbook.outages.push({ from, to: Date.now(), graceful: fault.graceful ?? false });
    await sent;
    await settled(scene, round);
    await fault.settle?.(scene);
    // Gathered only now, so that late effects are seen too.
    const evidence = await gathered(scene);
    logbook.outages.push(...machine.busy.map((each) => ({ ...each, busy: true })));
    if (stack.forbidden.requests.length > 0) logbook.complaints.push('a private address was reached');
    stack.forbidden.clear();
    for (const [index, part] of stack.programs.entries()) {
      const codes = refusedIn(part.output().slice(outputBefore[index]));
      if (codes.length > 0)
        logbook.complaints.push(`Postgres refused statements of ${part.name}: ${codes.join(', ')}`);
      if (!part.alive()) logbook.complaints.push(`${part.name} exited on its own`);
    }
    return {
      round,
      verdict: check(policyOf(policy), round.workflows, logbook, evidence),
      tookMs: Date.now() - started,
      busyMs: busyMs(machine, started),
      discarded: [],
    };
  } finally {
    machine.stop();
    await fault.finish?.(scene);
    await receivers.close();
  }
}

/** Waits until no ended delivery is in the queue for its workflow, while the count keeps dropping. */
async function untilQueueDrained({ stack, shop }: Scene<BasicStack>): Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  let fewerAt = Date.now();
  while (left > 0 && Date.now() < fewerAt + QUEUE_DRAINED_MS) {
    const { deliveries } = await readRows(stack.sql, shop.eshopId);
    const queued = deliveries.filter((row) => row.queued && !isOpen(row.state)).length;
    if (queued < left) fewerAt = Date.now();
    left = queued;
    await sleep(POLL_MS);
  }
}

/** Codes of errors in statements themselves (bad values, broken constraints, wrong names): no fault explains one. */
function refusedIn(output: string): readonly string[] {
  return [
    ...new Set([...output.matchAll(/"code":"((?:22|23|42)[0-9A-Z]{3})"/g)].map(([, code = '']) => code)),
  ];
}

async function gathered(scene: Scene<BasicStack>): Promise<Evidence> {
  const { stack, shop, receivers, logbook } = scene;
  await untilQueueDrained(scene);
  const rows = await readRows(stack.sql, shop.eshopId);
  const known = logbook.workflowsLost
    ? null
    : await withTemporal(await stack.temporalAddress(), (client) => withWorkflow(client, rows.deliveries));
  const webhooks = rows.webhooks.map((row) => ({
    ...row,
    deactivatedAt: row.deactivatedAt === null ? null : logbook.machineTime(row.deactivatedAt),
  }));
  return {
    deliveries: rows.deliveries.map((row) => ({ ...row, hasWorkflow: known?.has(row.id) ?? null })),
    webhooks,
    receivers: receivers.all,
    mails: await stack.mailsTo(shop.email),
  };
}

/** Waits until every delivery has ended and every deactivation is mailed, or until they are long overdue. */
async function settled(
  { stack, shop, receivers, logbook, machine }: Scene<BasicStack>,
  { policy }: Round,
): Promise<void> {
  const planned = waits(policyOf(policy)).filter((wait) => wait < MAX_WAITED_MS);
  // A hostile receiver may make each attempt last until its time-out.
  const attempts = maxAttempts(policyOf(policy)) * policyOf(policy).attemptTimeoutMs;
  const patience =
    planned.reduce((sum, wait) => sum + wait, 0) + attempts + LOST_MAIL_NOTICED_MS + 2 * logbook.graceMs;
  const start = Math.max(Date.now(), ...logbook.outages.map(({ to }) => to));
  for (; ; await sleep(POLL_MS)) {
    const rows = await readRows(stack.sql, shop.eshopId);
    const open = rows.deliveries.some(({ state }) => isOpen(state));
    const mailed = rows.webhooks.every(({ deactivations, mailed }) => deactivations === mailed);
    const expected = receivers.all.reduce(
      (sum, { type }) => sum + logbook.accepted.filter((each) => each.type === type).length,
      0,
    );
    if ((!open && mailed && rows.deliveries.length >= expected) || deadlinePassed(machine, start, patience)) {
      return;
    }
  }
}

/**
 * Waits for the injection point.
 * @throws Error if it was not reached
 * @throws TooSlowError
 */
async function reach(
  injectionPoint: Promise<void>,
  scene: Scene<BasicStack>,
  { policy, injectionPoint: name }: Round,
) {
  const reached = injectionPoint.then(() => true);
  const start = Date.now();
  while (!deadlinePassed(scene.machine, start, INJECTION_TIMEOUT_MS)) {
    if (await Promise.race([reached, sleep(WINDOW_CHECK_INTERVAL_MS, false)])) return;
    if (typeof name === 'number' && (await windowIsOver(scene, policyOf(policy)))) {
      throw new TooSlowError(`the window was over before attempt ${name}`);
    }
  }
  throw new Error(`the injection point ${name} was not reached within ${INJECTION_TIMEOUT_MS / 1000} s`);
}

/** Whether no further attempts come at the receivers that always fail, because the window has passed. */
async function windowIsOver({ stack, shop, receivers }: Scene<BasicStack>, { windowMs }: RetryPolicy) {
  const failing = receivers.all.filter(({ outcome }) => outcome === 'failed');
  const { deliveries } = await readRows(stack.sql, shop.eshopId);
  return failing.every(({ webhookId, arrivals }) => {
    const first = arrivals[0]?.at ?? Number.POSITIVE_INFINITY;
    const ended = deliveries.some((row) => row.webhookId === webhookId && !isOpen(row.state));
    return ended && Date.now() >= first + windowMs;
  });
}
