/**
 * The share of a process that one e-shop may use: requests in flight, database connections, bytes per second, and
 * memory for unread responses. An ordinary client reaches no limit; a runaway client slows down only itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Next } from 'hono';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { createCounts } from '../../concurrency/counts.ts';
import { createTurns } from '../../concurrency/turns.ts';
import { Problem, tooManyRequests } from '../../domain/problem.ts';
import { counted } from '../../domain/text.ts';
import type { ApiEnv } from '../deps.ts';
import type { Allowance, BudgetLimits } from './allowance.ts';
import { createSlices } from './slices.ts';
import { createUnread, type PendingResponse } from './unread.ts';

/**
 * Bytes are averaged over this many seconds. Too low: short bursts are refused. Too high: an e-shop loads the process
 * for longer at once.
 */
const WINDOW_SECONDS = 10;

/**
 * Milliseconds per second: an e-shop that blocks the process for longer uses up all its bytes. Too low: large orders
 * are refused. Too high: other e-shops wait (docs/measurements.md, bodies of unknown fields).
 */
const HELD_MS_PER_SECOND = 250;
/**
 * Milliseconds for which any request may block the process for free. Too low: small requests are charged. Too high:
 * many together block it for free.
 */
const FREE_HELD_MS = 5;

/**
 * Unread responses may take as much memory as an e-shop may receive in this many seconds. Too low: slow readers are
 * refused. Too high: more memory.
 */
const UNREAD_SECONDS = 2;

/** How often a paused import checks whether the e-shop has read its responses, in milliseconds. */
const READ_CHECK_MS = 200;

/** `Retry-After` for an e-shop with too many unread responses, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

/** The key of requests without a login. E-shops are numbered from 1. */
export const ANYBODY = 0;

/** Calls back once the response has been sent or its connection is closed; perhaps more than once. */
function onceGone({ incoming: { socket }, outgoing }: HttpBindings, leave: () => void): void {
  if (socket.destroyed || outgoing.closed) {
    leave();
    return;
  }
  // A response queued behind another on its connection is not notified when the connection closes.
  socket.once('close', leave);
  outgoing.once('close', () => {
    socket.off('close', leave);
    leave();
  });
}

export function createBudget(limits: BudgetLimits) {
  const turns = createTurns({ total: limits.allConnections, perKey: limits.connections });
  const inFlight = createCounts<number>();
  const unread = createUnread();
  const slices = createSlices();
  const points = limits.bytesPerSecond * WINDOW_SECONDS;
  const bytesPerHeldMs = limits.bytesPerSecond / HELD_MS_PER_SECOND;
  const maxUnread = limits.bytesPerSecond * UNREAD_SECONDS;
  const bytes = new RateLimiterMemory({ points, duration: WINDOW_SECONDS });
  // As in draft-ietf-httpapi-ratelimit-headers: a list of policies, each with its quota and unit.
  const policy = `"requests";q=${limits.requests};qu="concurrent-requests", "bytes";q=${points};qu="content-bytes";w=${WINDOW_SECONDS}`;

  function enter(eshopId: number, response: PendingResponse | undefined): () => void {
    inFlight.change(eshopId, 1);
    const stopWatching = response === undefined ? undefined : unread.watch(eshopId, response);
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      inFlight.change(eshopId, -1);
      stopWatching?.();
    };
  }

  const tooMuch = `The e-shop is sending and receiving more than ${limits.bytesPerSecond / 1024 / 1024} MiB per second, or bodies and records that take too long to process.`;
  const isUnread = (eshopId: number) => unread.of(eshopId) > maxUnread;
  const unreadMessage = `The e-shop has more than ${Math.floor(maxUnread / 1024 / 1024)} MiB of responses that it has not read.`;

  /** The bytes that the e-shop has left, and after how many milliseconds it has its full budget again. */
  async function bytesLeft(eshopId: number): Promise<{ left: number; resetMs: number }> {
    const spent = await bytes.get(String(eshopId));
    return { left: points - (spent?.consumedPoints ?? 0), resetMs: spent?.msBeforeNext ?? 0 };
  }

  function allowanceOf(eshopId: number, hold: Allowance['hold']): Allowance {
    return {
      spend: (count) => void bytes.penalty(String(eshopId), count),
      held(ms) {
        if (ms >= FREE_HELD_MS) void bytes.penalty(String(eshopId), Math.round(ms * bytesPerHeldMs));
      },
      slice: () => slices.next(eshopId),
      async paced() {
        const { left, resetMs } = await bytesLeft(eshopId);
        if (left <= 0) await sleep(resetMs);
        while (isUnread(eshopId)) await sleep(READ_CHECK_MS);
      },
      hold,
    };
  }

  return {
    /** Counts the bytes that an e-shop's deliveries will send: a small request may cause many large ones. */
    sends: (eshopId: number, count: number) => void bytes.penalty(String(eshopId), count),
    /** Admits a request of the session's e-shop, or refuses it with 429; sets `allowance`. */
    async admit(c: Context<ApiEnv>, next: Next): Promise<void> {
      const { eshopId } = c.get('session');
      const { left, resetMs } = await bytesLeft(eshopId);
      const free = limits.requests - inFlight.of(eshopId);
      const seconds = Math.ceil(resetMs / 1000);
      const state = (requests: number) => ({
        'ratelimit-policy': policy,
        ratelimit: `"requests";r=${Math.max(0, requests)}, "bytes";r=${Math.max(0, left)};t=${seconds}`,
      });
      const refused = (message: string, wait: number) =>
        new Problem(429, message, { 'retry-after': String(Math.max(1, wait)), ...state(free) });
      if (left <= 0) throw refused(tooMuch, seconds);
      if (free <= 0) {
        throw refused(
          `The e-shop has ${counted(limits.requests, 'request')} in progress; wait for a response.`,
          1,
        );
      }
      if (isUnread(eshopId)) throw refused(unreadMessage, RETRY_AFTER_MS / 1000);
      for (const [name, value] of Object.entries(state(free - 1))) c.header(name, value);
      const { incoming, outgoing } = c.env ?? {};
      const connection = incoming !== undefined && outgoing !== undefined ? { incoming, outgoing } : null;
      const leave = enter(eshopId, outgoing);
      let held = false;
      const hold = (waiting: PendingResponse) => {
        held = true;
        const stopWatching = unread.watch(eshopId, waiting);
        const end = () => {
          stopWatching();
          if (connection === null) leave();
        };
        if (connection !== null) onceGone(connection, stopWatching);
        return end;
      };
      c.set('allowance', allowanceOf(eshopId, hold));
      try {
        await next();
      } finally {
        // An unread response takes up memory, so its request counts beyond the end of its handler.
        if (connection !== null) onceGone(connection, leave);
        else if (!held) leave();
      }
    },
    /** Waits for the e-shop's turn once the body has arrived, so that a slow sender occupies no connection. */
    inTurn: (c: Context<ApiEnv>, next: Next) =>
      turns.run(c.get('session').eshopId, async () => {
        // Many requests may have been admitted before the first of them was counted, so this checks again. The
        // request's own bytes are left out here: they count against the next one.
        const { left, resetMs } = await bytesLeft(c.get('session').eshopId);
        if (left + (c.get('body')?.byteLength ?? 0) <= 0) throw tooManyRequests(tooMuch, resetMs);
        if (isUnread(c.get('session').eshopId)) throw tooManyRequests(unreadMessage, RETRY_AFTER_MS);
        await next();
      }),
    /** Waits for the e-shop's turn for a part of a request. */
    turn: turns.run,
  };
}
