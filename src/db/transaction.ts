/**
 * Transactions that wake the relay: they note what is written for it, and wake it after COMMIT.
 *
 * Module db, which imports concurrency, domain, lib, secrets, traces. Begin: `records/write.ts`, `webhooks/change.ts`
 * and `outbox/` for what is written, `migrations/` for the tables.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import type { Pool } from './connection/pool.ts';
import type { RelayWork } from './outbox/notify.ts';
import type { QueuedDelivery } from './outbox/outbox.ts';
import { DEADLOCK, hasSqlstate, SERIALIZATION_FAILURE } from './sqlstate.ts';

export type Transaction = postgres.TransactionSql & {
  readonly relayWork: Set<RelayWork>;
  /** The bytes that the deliveries created in it will send, by e-shop. */
  readonly outgoing: Map<number, number>;
  /** Whether new deliveries may be written as claimed by this process. */
  readonly claims: () => boolean;
  /** The deliveries written as claimed. */
  readonly claimed: QueuedDelivery[];
};

/** Call it when writing something for the relay: after COMMIT the relay is woken for it. */
export function wakeRelayAfter(tx: Transaction, work: RelayWork): void {
  tx.relayWork.add(work);
}

/** A pool, or a transaction to take part in. */
export type Database = Pool | Transaction;

/**
 * Runs a transaction and wakes the relay after COMMIT if it has work for it; rolled back when `work` throws. Within
 * another transaction it can be rolled back alone, and is committed with that one.
 */
export async function transaction<T>(sql: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  if ('savepoint' in sql) return savepoint(sql, work);
  const { notifier } = sql;
  const { result, relayWork, outgoing, claimed } = await sql.begin(async (begun) => {
    const state = {
      relayWork: new Set<RelayWork>(),
      outgoing: new Map<number, number>(),
      claims: notifier.hasRoom,
      claimed: [],
    };
    return { ...state, result: await work(Object.assign(begun, state)) };
  });
  for (const [eshopId, bytes] of outgoing) notifier.outgoing(eshopId, bytes);
  if (relayWork.size + claimed.length > 0) notifier.notify(relayWork, claimed);
  return result;
}

async function savepoint<T>(outer: Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const { relayWork, claims } = outer;
  const { result, outgoing, claimed } = await outer.savepoint(async (begun) => {
    const state = { relayWork, claims, outgoing: new Map<number, number>(), claimed: [] };
    return { ...state, result: await work(Object.assign(begun, state)) };
  });
  for (const [eshopId, bytes] of outgoing)
    outer.outgoing.set(eshopId, (outer.outgoing.get(eshopId) ?? 0) + bytes);
  outer.claimed.push(...claimed);
  return result;
}

const MAX_TRIES = 5;

/** Runs a transaction again, up to five times in all, if Postgres ended it because of another one. */
export async function retryOnDeadlock<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      // It did nothing, and an immediate retry may well succeed.
      const isVictim = hasSqlstate(error, DEADLOCK, SERIALIZATION_FAILURE);
      if (!isVictim || tries === MAX_TRIES) throw error;
      // Not at the same moment as the transaction it collided with.
      await sleep(Math.random() * 50 * tries);
    }
  }
}

/** Whether a transaction that failed with this was certainly not committed; a lost connection leaves that open. */
export function isRolledBack(error: unknown): boolean {
  return error instanceof postgres.PostgresError && !/^(?:08|57P)/.test(error.code);
}
