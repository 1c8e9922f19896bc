/** A recovery as shown by the command, to people and programs. */
import type { RecoveryRow } from '../db/recoveries/recoveries.ts';
import { operatorsRecoveryReason } from '../domain/recovery.ts';
import { type RecoveryStatus, recoveryProgress } from '../domain/recovery-progress.ts';
import { counted } from '../domain/text.ts';
import { minute, pairs, table } from './layout.ts';

export function recoveryStatus(row: RecoveryRow): RecoveryStatus {
  const { created, open, rate, exhausted, ...shown } = recoveryProgress(row);
  const reason = operatorsRecoveryReason(row);
  return { recoveryId: row.id, eshopId: row.eshopId, webhookId: row.webhookId, ...shown, reason };
}

export function recoveryRecord(row: RecoveryRow) {
  const { since, until, include, found: count, createdAt, finishedAt } = row;
  return { ...recoveryStatus(row), since, until, include, count, createdAt, finishedAt };
}

/** "12 done, 3 failed, 85 left"; and superseded ones, if any. */
export function recoveryCounts({ done, failed, superseded, left }: RecoveryStatus): string {
  return `${done} done, ${failed} failed,${superseded === 0 ? '' : ` ${superseded} superseded,`} ${left} left`;
}

/** "running: 12 done, 3 failed, 85 left, until about 2026-11-20 19:33". */
export function recoveryLine(row: RecoveryRow): string {
  const status = recoveryStatus(row);
  const { state, left, estimatedEndAt } = status;
  const end = estimatedEndAt === null || left === 0 ? '' : `, until about ${minute(estimatedEndAt)}`;
  return `${state}: ${recoveryCounts(status)}${end}`;
}

export function recoveriesTable(rows: readonly RecoveryRow[]): string {
  return table(
    rows.map((row) => {
      const { id, eshopId, webhookId, createdAt } = row;
      const { state, done, failed, superseded, left } = recoveryProgress(row);
      const about = { id, 'e-shop': eshopId, webhook: webhookId, begun: minute(createdAt) };
      return { ...about, state, done, failed, superseded, left };
    }),
  );
}

export function recoveryDetails(row: RecoveryRow): string {
  const { recoveryId, eshopId, webhookId, reason } = recoveryStatus(row);
  const { since, until, include, found, createdAt, finishedAt } = row;
  return pairs([
    ['Recovery', recoveryId],
    ['E-shop', eshopId],
    ['Webhook', webhookId],
    ['Events', `${counted(found, 'event')}, ${minute(since)} to ${minute(until)}: ${include.join(', ')}`],
    ['State', recoveryLine(row)],
    ['Reason', reason],
    ['Begun', minute(createdAt)],
    ['Ended', finishedAt === null ? null : minute(finishedAt)],
  ]);
}
