/**
 * Which e-shop a page is about, of those that somebody may look at: that of the thing in the path, else the one
 * chosen last.
 */
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { ApiDeps } from '../api/deps.ts';
import { eshopOf, type Owned } from '../db/console/eshops.ts';
import type { EshopName } from '../db/console/sessions.ts';
import { Problem } from '../domain/problem.ts';
import type { ConsoleEnv } from './deps.ts';
import { CONSOLE, cookieName, isSecure, type Reached } from './session.ts';

/** What was chosen last. It opens nothing: what it names must be among the e-shops of the session. */
const CHOSEN = 'waybill_eshop';
/** By which a page that asks for itself again names its e-shop: another may have been chosen meanwhile. */
export const ESHOP_HEADER = 'x-waybill-eshop';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NUMBER = /^[1-9]\d{0,8}$/;

/** What a path of the console names. */
function named(pathname: string): { readonly kind: Owned; readonly id: string } | null {
  const [, kind, id = ''] = /^\/console\/(deliveries|webhooks|events)\/([^/]+)/.exec(pathname) ?? [];
  if (kind === 'webhooks') return NUMBER.test(id) ? { kind, id } : null;
  return (kind === 'deliveries' || kind === 'events') && UUID.test(id) ? { kind, id } : null;
}

/** The one of this number, as text; undefined where it is none of them. */
function among(eshops: readonly EshopName[], text: string | undefined): EshopName | undefined {
  return eshops.find(({ id }) => String(id) === text);
}

/**
 * The e-shop that a request is about.
 * @param eshops at least one
 * @throws Problem 404 where an e-shop is asked for that is not among these
 */
export async function eshopAsked(
  c: Context<ConsoleEnv>,
  { sql, ...reached }: Pick<ApiDeps, 'sql'> & Reached,
  eshops: readonly EshopName[],
): Promise<EshopName> {
  const [first] = eshops;
  if (first === undefined)
    throw new Problem(404, 'There are no e-shops yet. Create one with waybill eshop create.');
  const query = c.req.query('eshop');
  const wanted = query === undefined || query === '' ? undefined : among(eshops, query);
  if (query !== undefined && query !== '' && wanted === undefined) {
    throw new Problem(404, 'There is no such e-shop.');
  }
  // One that was taken away is not another: a page that stayed open would go on with that under the name of this.
  const followed = c.req.header(ESHOP_HEADER);
  if (followed !== undefined && among(eshops, followed) === undefined)
    throw new Problem(404, 'There is no such e-shop.');
  if (eshops.length === 1) return first;
  const about = named(new URL(c.req.url).pathname);
  const owner = about === null ? null : await eshopOf(sql, about.kind, about.id);
  const its = owner === null ? undefined : among(eshops, String(owner));
  if (its !== undefined) return its;
  return (
    among(eshops, followed) ?? wanted ?? among(eshops, getCookie(c, cookieName(c, reached, CHOSEN))) ?? first
  );
}

/** Remembers what a page was about that somebody asked for. */
export function rememberEshop(c: Context<ConsoleEnv>, { id }: EshopName, reached: Reached): void {
  if (getCookie(c, cookieName(c, reached, CHOSEN)) === String(id)) return;
  const secure = isSecure(c, reached);
  setCookie(c, cookieName(c, reached, CHOSEN), String(id), {
    path: CONSOLE,
    httpOnly: true,
    sameSite: 'Lax',
    secure,
  });
}
