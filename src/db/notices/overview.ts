/** The notices of all e-shops that are still to be sent, or were given up. Read by indexes of such rows. */
import { oneRow, type Sql } from '../connection/pool.ts';
import { isPendingMail, isToBeStarted } from './pending.ts';

/** An e-shop to look at first. */
interface NamedEshop {
  readonly id: number;
  readonly name: string;
}

/** The notices to some of the recipients. */
export interface NoticesOverview {
  readonly pending: number;
  /** Not among these: they wait for the budget of their e-shop (docs/interface.md, N3). */
  readonly deferred: number;
  /** The wait of the oldest pending one, in seconds; null if there is none. */
  readonly oldestSeconds: number | null;
  /** The e-shop of the oldest pending notice; null if there is none. */
  readonly oldestOf: NamedEshop | null;
  /** Why the oldest pending notice with a failed try was not sent, without secrets; null if none was refused. */
  readonly lastError: string | null;
  /** Given up within the last day. */
  readonly givenUp: number;
  /** The e-shop of the notice that was given up last; null if there is none. */
  readonly givenUpOf: NamedEshop | null;
}

/** @returns the mails to the e-shops' own addresses (set by the operator); notices to further addresses and URLs */
export async function readNotices(sql: Sql) {
  const named = (eshop: ReturnType<Sql>) =>
    sql`(select json_build_object('id', s.id, 'name', s.name) from eshops s where s.id = (${eshop}))`;
  const of = async (theirs: ReturnType<Sql>) =>
    await oneRow(sql<NoticesOverview[]>`
      with waiting as materialized (
        -- A notice that was refused waits for its recipient, and no longer for the budget.
        select n.eshop_id, n.at, n.error, n.deferred and n.error is null as by_budget
        from (
          select n.* from notices n where ${isToBeStarted(sql)}
          union all
          select x.* from notices x where ${isPendingMail(sql)}) n
        where ${theirs}),
      given_up as materialized (
        select n.eshop_id, n.settled_at from notices n
        where n.outcome = 'givenUp' and n.settled_at > now() - interval '1 day' and ${theirs})
      select count(*) filter (where not by_budget)::int as pending, count(*) filter (where by_budget)::int as deferred,
        extract(epoch from now() - min(at) filter (where not by_budget))::float8 as oldest_seconds,
        ${named(sql`select eshop_id from waiting where not by_budget order by at limit 1`)} as oldest_of,
        (array_agg(error order by at) filter (where error is not null))[1] as last_error,
        (select count(*)::int from given_up) as given_up,
        ${named(sql`select eshop_id from given_up order by settled_at desc limit 1`)} as given_up_of
      from waiting`);
  return {
    mails: await of(sql`n.recipient = 'email'`),
    furtherNotices: await of(sql`n.recipient <> 'email'`),
  };
}
