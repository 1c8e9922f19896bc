/** The time from the transaction of an event to the first byte of its first request, by phase. Pure. */
import type { BegunAttempt, DeliveryForAttempt } from '../db/webhooks/attempts.ts';
import { latenessMs } from './lateness.ts';

/**
 * `queue`: until a process attempts the delivery; `prepare`: reading it, its permit, its request; `begin`:
 * the number of the attempt; `send`: name, connection, TLS, until the first byte leaves.
 */
export const phases = ['queue', 'prepare', 'begin', 'send'] as const;
export type Phase = (typeof phases)[number];

/** In milliseconds. */
export type ToFirstByte = Readonly<Record<Phase, number>>;

/** An attempt that has its result; this process's times are on a clock that does not jump. */
interface Answered {
  readonly delivery: Pick<DeliveryForAttempt, 'createdAt' | 'generationAt' | 'pausedUntil' | 'recoveryId'>;
  readonly number: number;
  readonly begun: Pick<BegunAttempt, 'startedAt'>;
  readonly result: { readonly sentMs?: number };
  readonly takenAt: number;
  readonly beginAt: number;
  readonly begunAt: number;
}

/**
 * @returns null for any but a first attempt, for deliveries of a recovery, which wait on purpose, and without a
 * connection
 */
export function toFirstByte({
  delivery,
  number,
  begun,
  result,
  takenAt,
  beginAt,
  begunAt,
}: Answered): ToFirstByte | null {
  if (number !== 1 || delivery.recoveryId !== null || result.sentMs === undefined) return null;
  // The time for which the webhook was inactive or paused does not count.
  const waitedMs =
    latenessMs([delivery.createdAt, delivery.generationAt, delivery.pausedUntil], begun.startedAt) ?? 0;
  const prepare = beginAt - takenAt;
  const begin = begunAt - beginAt;
  return { queue: Math.max(0, waitedMs - prepare - begin), prepare, begin, send: result.sentMs };
}
