/** Live pages: rendered again while somebody looks, and streamed when changed. A stream has the rules of its page. */
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { createCounts } from '../concurrency/counts.ts';
import { Problem } from '../domain/problem.ts';
import { eitherSignal } from '../lib/either-signal.ts';
import { waitOrStop } from '../lib/wait-or-stop.ts';
import type { ConsoleApp, ConsoleDeps, ConsoleEnv } from './deps.ts';
import { ESHOP_HEADER } from './eshops.ts';
import { CONSOLE, pageOf } from './session.ts';

export const LIVE = '/live';

/** How often a page is rendered again, in milliseconds. */
const TICK_MS = 2_000;
/** The longest silence, in milliseconds: after more a proxy may close the connection. */
const KEEPALIVE_INTERVAL_MS = 20_000;
/** The lifetime of a stream, in milliseconds: then the browser reconnects by itself. */
const LIFETIME_MS = 15 * 60_000;
/**
 * Streams at once: of one person, of all persons of one e-shop, and of all. They count for who looks, not for the
 * e-shop looked at, whose streams a warehouse could use up. Pages beyond that poll every few seconds.
 */
const MAX_STREAMS_PER_PERSON = 20;
const MAX_STREAMS_PER_ESHOP = 100;
const MAX_STREAMS = 400;

/** The answers after which a page is not shown any more: the session has ended, or what it may see. */
const OVER: ReadonlySet<number> = new Set([401, 403, 404]);

/** The main part of a page, which contains all live parts. */
function mainOf(page: string): string {
  const from = page.indexOf('<main');
  const to = page.lastIndexOf('</main>');
  return from < 0 || to < 0 ? page : page.slice(from, to + '</main>'.length);
}

/** The normalized path of a page to follow; null for anything else: a stream of streams would never end. */
function followedPage(path: string): string | null {
  const page = pageOf(path);
  return page === null || page.startsWith(`${CONSOLE}${LIVE}`) ? null : page;
}

/** The path of the page is in `?of=`. */
export function liveRoutes(app: ConsoleApp, { log, stopping }: ConsoleDeps): void {
  /** Renders a page as the person of this request would get it. */
  async function makePage(c: Context<ConsoleEnv>, path: string): Promise<Response> {
    const headers = {
      host: c.req.header('host') ?? '',
      cookie: c.req.header('cookie') ?? '',
      'hx-request': 'true',
      [ESHOP_HEADER]: String(c.var.viewer.session.eshopId),
    };
    return await app.request(path, { headers }, c.env);
  }

  const byPerson = createCounts<number>();
  const byEshop = createCounts<number>();
  app.get(LIVE, (c) => {
    // A stream in response to HEAD is not read, and so would never end.
    if (c.req.method !== 'GET') throw new Problem(405, 'A live page must be requested with GET.');
    const path = followedPage(c.req.query('of') ?? '');
    // Catches recursion however the path is written: streams request their pages with this header.
    const isFollowed = c.req.header('hx-request') === 'true';
    if (path === null || isFollowed) throw new Problem(400, 'Only pages of the console can be streamed.');
    const { session, eshops } = c.var.viewer;
    // A person's own e-shop is the first.
    const ownEshop = eshops[0]?.id ?? session.eshopId;
    const isFull =
      byPerson.of(session.userId) >= MAX_STREAMS_PER_PERSON ||
      byEshop.of(ownEshop) >= MAX_STREAMS_PER_ESHOP ||
      byEshop.all() >= MAX_STREAMS;
    if (isFull)
      throw new Problem(
        503,
        'Too many live pages are open at the same time. Close some, or reload this page later.',
      );
    const count = (by: 1 | -1) => {
      byPerson.change(session.userId, by);
      byEshop.change(ownEshop, by);
    };
    count(1);
    const disconnected = new AbortController();
    c.header('x-accel-buffering', 'no');
    return streamSSE(
      c,
      async (stream) => {
        stream.onAbort(() => disconnected.abort());
        // A response queued behind another is not read, and misses that its connection closes: abort ends the write.
        const abort = () => stream.abort();
        const socket = c.env?.incoming?.socket;
        if (socket?.destroyed === true) abort();
        socket?.once('close', abort);
        const latest = setTimeout(abort, LIFETIME_MS + KEEPALIVE_INTERVAL_MS);
        const ends = performance.now() + LIFETIME_MS;
        const { signal, release } = eitherSignal(
          stopping === undefined ? [disconnected.signal] : [stopping, disconnected.signal],
        );
        let shown = '';
        let spoken = 0;
        try {
          while (!signal.aborted && performance.now() < ends) {
            const response = await makePage(c, path);
            if (OVER.has(response.status)) return await stream.writeSSE({ event: 'over', data: '' });
            const main = response.ok ? mainOf(await response.text()) : shown;
            if (main !== shown) {
              await stream.writeSSE({ event: 'page', data: JSON.stringify(main) });
              [shown, spoken] = [main, performance.now()];
            } else if (performance.now() - spoken > KEEPALIVE_INTERVAL_MS) {
              await stream.write(': still here\n\n');
              spoken = performance.now();
            }
            await waitOrStop(TICK_MS, signal);
          }
        } finally {
          release();
          clearTimeout(latest);
          socket?.off('close', abort);
          count(-1);
        }
      },
      async (error) => log.warn({ err: error }, 'a live page of the console ended'),
    );
  });
}
