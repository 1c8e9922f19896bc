/** The e-shop of a page, one of the person's: the owner of the object named by the path, else the one chosen last. */
import type { Context } from 'hono';
import type { ApiDeps } from '../api/deps.ts';
import { eshopOf, type Owned } from '../db/console/eshops.ts';
import type { EshopName } from '../db/console/sessions.ts';
import { Problem } from '../domain/problem.ts';
import type { ConsoleEnv } from './deps.ts';
import { cookieOf, type SessionContext } from './session.ts';

/** The e-shop chosen last. It gives no access: the e-shop must be one of the session's. */
const CHOSEN = 'waybill_eshop';
/** The header in which a self-refreshing page names its e-shop: another may have been chosen in the meantime. */
export const ESHOP_HEADER = 'x-waybill-eshop';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NUMBER = /^[1-9]\d{0,8}$/;

/** The webhook, event or delivery in a path of the console. */
function named(pathname: string): { readonly kind: Owned; readonly id: string } | null {
  const [, kind, id = ''] = /^\/console\/(deliveries|webhooks|events)\/([^/]+)/.exec(pathname) ?? [];
  if (kind === 'webhooks') return NUMBER.test(id) ? { kind, id } : null;
  return (kind === 'deliveries' || kind === 'events') && UUID.test(id) ? { kind, id } : null;
}

/** The e-shop with this number, given as text; undefined if it is not among them. */
function among(eshops: readonly EshopName[], text: string | undefined): EshopName | undefined {
  return eshops.find(({ id }) => String(id) === text);
}

/**
 * The e-shop that a request is about.
 * @param eshops at least one
 * @throws Problem 404 if the requested e-shop is not one of these
 */
export async function requestedEshop(
  c: Context<ConsoleEnv>,
  { sql, ...reached }: Pick<ApiDeps, 'sql'> & SessionContext,
  eshops: readonly EshopName[],
): Promise<EshopName> {
  const [first] = eshops;
  if (first === undefined)
    throw new Problem(404, 'There are no e-shops yet. Create one with waybill eshop create.');
  const requested = c.req.query('eshop') || undefined;
  const followed = c.req.header(ESHOP_HEADER);
  // Without access to it there is no fallback: an open page would show another e-shop under the name of this one.
  if ([requested, followed].some((number) => number !== undefined && among(eshops, number) === undefined))
    throw new Problem(404, 'There is no such e-shop.');
  if (eshops.length === 1) return first;
  const about = named(new URL(c.req.url).pathname);
  const owner = about === null ? null : await eshopOf(sql, about.kind, about.id);
  const owning = owner === null ? undefined : among(eshops, String(owner));
  if (owning !== undefined) return owning;
  return among(eshops, followed ?? requested ?? cookieOf(reached, CHOSEN).read(c)) ?? first;
}

/** Remembers the e-shop of a page requested by a person. */
export function rememberEshop(c: Context<ConsoleEnv>, { id }: EshopName, reached: SessionContext): void {
  const cookie = cookieOf(reached, CHOSEN);
  if (cookie.read(c) !== String(id)) cookie.write(c, String(id));
}
