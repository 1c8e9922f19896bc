import { mailsAreFiles } from '../mail-folder.ts';
import type { Sql } from '../pool.ts';

/** The state of the mail about a deactivation. */
export interface DeactivationMail {
  /** The e-shop's address. */
  readonly email: string;
  readonly mailedAt: Date | null;
  /** Without a mail server it is written to a file. */
  readonly toFile: boolean;
  readonly deferred: boolean;
  /** When the mail server first refused it permanently, and when it was given up. */
  readonly refusedAt: Date | null;
  readonly failedAt: Date | null;
}

/** @returns null if someone requested the webhook's last deactivation, or there was none */
export async function mailOfLastDeactivation(
  sql: Sql,
  eshopId: number,
  webhookId: number,
): Promise<DeactivationMail | null> {
  const [row] = await sql<DeactivationMail[]>`
    select s.email, x.mailed_at, ${mailsAreFiles(sql)} as to_file, x.deferred, x.mail_refused_at as refused_at,
           x.mail_failed_at as failed_at
    from webhooks w join eshops s on s.id = w.eshop_id
    cross join lateral (
      select * from deactivations where webhook_id = w.id order by generation desc limit 1) x
    where w.id = ${webhookId} and w.eshop_id = ${eshopId} and x.delivery_id is not null`;
  return row ?? null;
}
