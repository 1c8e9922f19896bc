/**
 * What a round owes: every change that the API answered with 200, what must become of it, and when nothing could be
 * expected of us.
 */
import type { EventType } from '../src/domain/event-types.ts';
import type { Violation } from './check/violation.ts';
import type { Moment } from './moments.ts';

/** How a delivery may end. `gone` is `failed` after a 410. */
export type Outcome = 'delivered' | 'failed' | 'gone' | 'expired' | 'canceled' | 'superseded';

/** A change that was answered with 200. */
export interface Accepted {
  readonly type: EventType;
  readonly entityId: string;
  /** When the answer arrived, in milliseconds since 1970; null where nobody can say when its delivery is due. */
  readonly at: number | null;
}

/** A time during which something of ours was down, in milliseconds since 1970. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  /** We were stopped gracefully: what was in flight was finished, and nothing has to be repeated. */
  readonly inOrder?: boolean;
  /** The machine had no time for anybody, receivers included. */
  readonly busy?: boolean;
}

/** The books of a round. */
export interface Ledger {
  readonly accepted: Accepted[];
  readonly outages: Outage[];
  /** Deliveries that may end differently from how their receiver behaves, by id: what an operator did to them. */
  readonly exceptions: Map<string, readonly Outcome[]>;
  /** Webhooks whose deliveries may, by id: what a fault does to their receiver. */
  readonly webhookExceptions: Map<number, readonly Outcome[]>;
  /** Attempts that somebody ordered: from then on one comes, whatever was planned. By delivery id. */
  readonly ordered: Map<string, number>;
  /** Mails may come twice: a mail server's 250 was lost on its way to us. */
  mailsMayRepeat: boolean;
  /** How late an attempt may be beyond its plan and our outage, in milliseconds. */
  graceMs: number;
  /** The machine's time, in milliseconds since 1970, when the database's clock said that time. */
  machineTime: (at: number) => number;
  /** What went wrong besides deliveries, as sentences. */
  readonly complaints: string[];
  /** What a fault that looks for itself has found. */
  readonly found: Violation[];
  /** Where kills have met attempts, one for each. */
  readonly killedAt: Moment[];
}

/** Opens the books. */
export function newLedger(graceMs: number): Ledger {
  return {
    accepted: [],
    outages: [],
    exceptions: new Map(),
    webhookExceptions: new Map(),
    ordered: new Map(),
    mailsMayRepeat: false,
    graceMs,
    machineTime: (at) => at,
    complaints: [],
    found: [],
    killedAt: [],
  };
}
