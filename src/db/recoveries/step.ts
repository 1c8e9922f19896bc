/**
 * One step of a recovery: creates as many deliveries as its pace allows, in one transaction with its new position. A
 * repeated step continues after that position.
 */
import { idAt } from '../../domain/id-time.ts';
import { waitsForWebhook } from '../../domain/recovery.ts';
import {
  allowanceFor,
  endedOf,
  nextPace,
  type RecoveryPace,
  type StepTiming,
} from '../../domain/recovery-pace.ts';
import type { Pool } from '../connection/pool.ts';
import { lowWaterMark } from '../maintenance/low-water-mark.ts';
import { createRecoveredDeliveries } from '../outbox/recovered-deliveries.ts';
import { type Transaction, transaction } from '../transaction.ts';
import { nextLostEvents } from './lost-events.ts';
import { type RecoveryRow, readRecovery } from './recoveries.ts';

export interface RecoveryStep {
  readonly recovery: RecoveryRow;
  /** Nothing was found in this step, and there are more events to judge. */
  readonly more: boolean;
}

interface StepState extends RecoveryPace, StepTiming {
  readonly lookedAtId: string | null;
}

/** @returns null if there is no such recovery */
export async function stepRecovery(sql: Pool, recoveryId: string): Promise<RecoveryStep | null> {
  return await transaction(sql, async (tx) => {
    const [before] = await tx<StepState[]>`
      select looked_at_id, ended, superseded, rate, extract(epoch from clock_timestamp() - stepped_at)::float8 as elapsed_s,
             extract(epoch from clock_timestamp() - created_at)::float8 as age_s
      from recoveries where id = ${recoveryId} for update`;
    if (before === undefined) return null;
    // Read first: the recovery is read with the open transactions too, of which Postgres keeps one copy.
    const mark = await lowWaterMark(tx);
    const recovery = await readRecovery(tx, recoveryId);
    if (recovery === null) return null;
    const continues = await advance(tx, recovery, before, mark);
    return { recovery: (await readRecovery(tx, recoveryId)) ?? recovery, more: continues };
  });
}

async function advance(
  tx: Transaction,
  recovery: RecoveryRow,
  before: StepState,
  mark: string,
): Promise<boolean> {
  const { id, state, webhookDeleted, webhookPausedUntil } = recovery;
  if (state !== 'running' && state !== 'paused') return false;
  if (webhookDeleted) {
    await tx`update recoveries set state = 'canceled', by = 'deletion', comment = null, finished_at = now() where id = ${id}`;
    return false;
  }
  if (state === 'paused' || waitsForWebhook(recovery)) {
    // Deliveries that end until it continues say nothing about the receiver.
    await tx`
      update recoveries set stepped_at = null, waits_until = ${webhookPausedUntil},
        ended = ${endedOf(recovery)}, superseded = ${recovery.superseded}
      where id = ${id}`;
    return false;
  }
  if (recovery.exhausted && recovery.pending + recovery.retrying === 0) {
    await tx`update recoveries set state = 'completed', finished_at = now() where id = ${id}`;
    return false;
  }
  const pace = nextPace(before, recovery, before);
  const allowance = recovery.exhausted ? 0 : allowanceFor(recovery, before);
  const from = before.lookedAtId ?? idAt(recovery.since);
  const page = allowance === 0 ? null : await nextLostEvents(tx, recovery, from, allowance);
  const to = page?.lookedAtId ?? from;
  // Events become visible at COMMIT; those after the mark are looked for again.
  const lookedAtId = to <= mark ? to : mark > from ? mark : from;
  const exhausted = recovery.exhausted || (page?.last === true && idAt(recovery.until) <= mark);
  const created =
    page === null ? 0 : await createRecoveredDeliveries(tx, { recoveryId: id, ...recovery }, page.events);
  await tx`
    update recoveries set ended = ${pace.ended}, superseded = ${pace.superseded}, rate = ${pace.rate},
      stepped_at = clock_timestamp(), created = created + ${created}, looked_at_id = ${lookedAtId},
      exhausted = ${exhausted}
    where id = ${id}`;
  return page !== null && page.events.length === 0 && !page.last && to <= mark;
}
