/**
 * Whose failure it is when no answer arrived. A failure of the receiver, its name server or the route to it counts
 * as an attempt; a failure of ours does not, and the same attempt is made again.
 *
 * This table is the only place where that is decided; docs/deliveries.md, "Whose failure it is", says the same in
 * words. Two kinds of error can mean either, and are decided by evidence that is gathered when they occur.
 */

/**
 * - `receiver`: counts as an attempt.
 * - `ours`: uses up nothing.
 * - `resolver`: the receiver's if our resolver answers other questions, else ours.
 * - `route`: the receiver's if this machine has a way to the internet at all, else ours.
 */
export type Fault = 'receiver' | 'ours' | 'resolver' | 'route';

/** By the code of the error. What is not in the table is the receiver's. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  // The resolver has answered: the name has no address, or is none.
  ENOTFOUND: 'receiver',
  ENODATA: 'receiver',
  EBADNAME: 'receiver',
  // No answer, or one that says that somebody else did not answer: the name's own server, or all of them.
  ETIMEOUT: 'resolver',
  ESERVFAIL: 'resolver',
  EREFUSED: 'resolver',
  EFORMERR: 'resolver',
  EBADRESP: 'resolver',
  ENOTIMP: 'resolver',
  // The resolver itself cannot be asked. (A receiver that refuses is ECONNREFUSED of a socket: see `faultOf`.)
  EAI_AGAIN: 'ours',
  EAI_FAIL: 'ours',
  ECANCELLED: 'ours',
  EDESTRUCTION: 'ours',
  EFILE: 'ours',
  ELOOKUPS: 'ours',
  // File descriptors, memory.
  EMFILE: 'ours',
  ENFILE: 'ours',
  ENOMEM: 'ours',
  ENOBUFS: 'ours',
  // No local port left; over IPv6 also: this machine has no IPv6.
  EADDRNOTAVAIL: 'ours',
  EADDRINUSE: 'ours',
  // No network here, or none there.
  ENETDOWN: 'route',
  ENETUNREACH: 'route',
  EHOSTUNREACH: 'route',
  // A packet filter: ours, where one restricts outgoing connections.
  EPERM: 'ours',
  EACCES: 'ours',
};

/** A timer that fires this late, in milliseconds, shows that this process was not running, or was too busy. */
export const STALL_MS = 2_000;

/** An error as the table needs it. */
export interface FailedStep {
  readonly code: string;
  /** Whether a name was being looked up, or a connection made to an address. */
  readonly step: 'lookup' | 'connection';
  /** The address, where one was dialled. */
  readonly address?: string | undefined;
}

/** The row of the table for one error. */
export function faultOf({ code, step, address }: FailedStep): Fault {
  if (step === 'lookup' && code === 'ECONNREFUSED') return 'ours';
  if (code === 'EADDRNOTAVAIL' && address?.includes(':') === true) return 'route';
  return FAULTS[code] ?? 'receiver';
}

/** Questions whose answers decide what a code alone does not; asked only then. */
export interface Evidence {
  /** Whether our resolver gives answers, whatever they are. */
  resolverAnswers(): Promise<boolean>;
  /** Whether this machine has a way to the internet. */
  hasRoute(): Promise<boolean>;
}

/** Whether one error is ours. */
async function isOurs(fault: Fault, evidence: Evidence): Promise<boolean> {
  if (fault === 'resolver') return !(await evidence.resolverAnswers());
  if (fault === 'route') return !(await evidence.hasRoute());
  return fault === 'ours';
}

/**
 * Whether a failure is ours. Of several errors (one per address tried) all have to be: one address that failed by
 * itself is enough to know that we were able to try.
 */
export async function isOurFault(steps: readonly FailedStep[], evidence: Evidence): Promise<boolean> {
  for (const step of steps) {
    if (!(await isOurs(faultOf(step), evidence))) return false;
  }
  return steps.length > 0;
}
