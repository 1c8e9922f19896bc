/** The sessions of the console: stored, so that signing out or an operator's revocation ends one. */
import { createHash } from 'node:crypto';
import type { Role } from '../../domain/role.ts';
import type { Sql } from '../connection/pool.ts';

/** The longest that a session lasts, in hours. */
export const SESSION_HOURS = 12;
/** A session ends after this time without a page requested by a person, in minutes. */
const SESSION_IDLE_MINUTES = 60;

export interface EshopName {
  readonly id: number;
  readonly name: string;
}

interface SessionRow {
  readonly userId: number;
  readonly username: string;
  readonly role: Role;
  /** The e-shops that it may see: its own, then those given to a warehouse user. */
  readonly eshops: readonly EshopName[];
  /** By the database's clock. */
  readonly now: Date;
}

const hashOf = (id: string): Buffer => createHash('sha256').update(id).digest();

/** Begins a session, and deletes all expired ones. */
export async function beginSession(
  sql: Sql,
  id: string,
  user: { readonly id: number; readonly passwordVersion: number },
): Promise<void> {
  await sql`delete from console_sessions where expires_at < now()`;
  await sql`
    insert into console_sessions (id_hash, user_id, password_version, expires_at)
    values (${hashOf(id)}, ${user.id}, ${user.passwordVersion}, now() + make_interval(hours => ${SESSION_HOURS}))`;
}

/**
 * The session of this id; null if it has ended or its user may no longer sign in.
 * @param seen whether a person made the request, which prolongs the session
 */
export async function findSession(sql: Sql, id: string, seen: boolean): Promise<SessionRow | null> {
  const idHash = hashOf(id);
  const [row] = await sql<(SessionRow & { stale: boolean })[]>`
    select u.id as user_id, u.username, u.role, clock_timestamp() as now,
           (select json_agg(json_build_object('id', x.id, 'name', x.name) order by x.id <> e.id, x.id)
            from eshops x
            where x.id = e.id or (u.role = 'warehouse' and x.disabled_at is null
              and x.id in (select g.eshop_id from user_eshops g where g.user_id = u.id))) as eshops,
           s.last_seen_at < now() - interval '1 minute' as stale
    from console_sessions s
    join users u on u.id = s.user_id and u.password_version = s.password_version
    join eshops e on e.id = u.eshop_id
    where s.id_hash = ${idHash} and s.expires_at > now() and e.disabled_at is null
      and s.last_seen_at > now() - make_interval(mins => ${SESSION_IDLE_MINUTES})`;
  if (row === undefined) return null;
  const { stale, ...session } = row;
  if (seen && stale) await sql`update console_sessions set last_seen_at = now() where id_hash = ${idHash}`;
  return session;
}

export async function endSession(sql: Sql, id: string): Promise<void> {
  await sql`delete from console_sessions where id_hash = ${hashOf(id)}`;
}

/** Takes a form of a session, once. @param form identifies it in the session @returns false if it was taken before */
export async function acceptFormOnce(sql: Sql, id: string, form: string): Promise<boolean> {
  const taken = await sql`
    insert into console_forms (id_hash, form) values (${hashOf(id)}, ${hashOf(form)})
    on conflict do nothing returning 1`;
  return taken.length === 1;
}
