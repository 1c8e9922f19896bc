/** A round's logbook: changes answered with 200, required outcomes, and times in which nothing can be expected. */
import type { EventType } from '../src/domain/event-types.ts';
import type { Violation } from './check/violation.ts';
import type { Moment } from './moments.ts';

/** How a delivery may end. `gone` is `failed` after a 410. */
export type Outcome = 'delivered' | 'failed' | 'gone' | 'expired' | 'canceled' | 'superseded';

/** A change that was answered with 200. */
export interface Accepted {
  readonly type: EventType;
  readonly entityId: string;
  /** When the response arrived, in milliseconds since 1970; null if it is unknown when the delivery is due. */
  readonly at: number | null;
}

/** A time during which part of Waybill or its servers was down, in milliseconds since 1970. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  /** Waybill was stopped gracefully: attempts in flight were finished, and none may be repeated. */
  readonly graceful?: boolean;
  /** The machine was too busy for all, including receivers. */
  readonly busy?: boolean;
}

/**
 * A pause of a webhook or of its recovery, in milliseconds since 1970: from its response to its end, or to the
 * request to end it.
 */
export interface WebhookPause {
  readonly webhookId: number;
  readonly from: number;
  to: number;
}

/** The logbook of a round. */
export interface Logbook {
  readonly accepted: Accepted[];
  readonly outages: Outage[];
  readonly pauses: WebhookPause[];
  /** Pauses of the recovery at a webhook: no first attempt may come. */
  readonly recoveryPauses: WebhookPause[];
  /** Deliveries that may end differently from their receiver's behavior, by id: due to an operator. */
  readonly exceptions: Map<string, readonly Outcome[]>;
  /** Webhooks whose deliveries may end differently because of a fault, by id. */
  readonly webhookExceptions: Map<number, readonly Outcome[]>;
  /** When an operator requested an attempt: one comes from then on, regardless of the plan. By delivery id. */
  readonly requestedAttempts: Map<string, number>;
  /** A fault has deleted workflows from Temporal: those of ended deliveries are not started again. */
  workflowsLost: boolean;
  /** Mails may come twice: a mail server's 250 was lost on its way to Waybill. */
  mailsMayRepeat: boolean;
  /** How late an attempt may be beyond its plan and the outage, in milliseconds. */
  graceMs: number;
  /** Converts a time of the database's clock to the machine's, in milliseconds since 1970. */
  machineTime: (at: number) => number;
  /** By the database's clock all deliveries have waited for an hour: then delivered ones need no workflow. */
  hourPassed: boolean;
  /** The worker's clock differs from the machine's, and so do its signatures. */
  workerClockWrong: boolean;
  /** Failures other than of deliveries, as sentences. */
  readonly complaints: string[];
  /** Violations found by a fault's own checks. */
  readonly found: Violation[];
  /** The moments at which kills met attempts, one for each. */
  readonly killedAt: Moment[];
}

/** Opens a logbook. */
export function newLogbook(graceMs: number): Logbook {
  return {
    accepted: [],
    outages: [],
    pauses: [],
    recoveryPauses: [],
    exceptions: new Map(),
    webhookExceptions: new Map(),
    requestedAttempts: new Map(),
    hourPassed: false,
    workerClockWrong: false,
    workflowsLost: false,
    mailsMayRepeat: false,
    graceMs,
    machineTime: (at) => at,
    complaints: [],
    found: [],
    killedAt: [],
  };
}
