/** The time from the transaction of an event to the first byte of its first request, by phase. Pure. */
import type { BegunAttempt, DeliveryForAttempt } from '../db/deliveries/attempts.ts';
import { latenessMs } from './lateness.ts';

/**
 * The phases. `queue`: until a process takes the delivery. `prepare`: reading the delivery, getting its permit,
 * making its request. `begin`: allocating the number of the attempt. `send`: name lookup, connection and TLS, until
 * the first byte is sent.
 */
export const phases = ['queue', 'prepare', 'begin', 'send'] as const;
export type Phase = (typeof phases)[number];

/** The duration of each phase, in milliseconds. */
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
 * @returns null for an attempt that is not the first, for a delivery of a recovery, which waits on purpose, and if no
 * connection was made
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
