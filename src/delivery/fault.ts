/**
 * Whose failure it is when no response arrived. A failure of the receiver, its name server or the route to it counts
 * as an attempt; an internal failure does not, and the same attempt is made again.
 *
 * Only this table decides that; docs/deliveries.md, "Whose failure it is", puts it into words. Two kinds of error can
 * be either; evidence gathered when they occur decides.
 */

/**
 * - `receiver`: counts as an attempt.
 * - `internal`: uses up nothing.
 * - `resolver`: the receiver's if our resolver answers other questions, else internal.
 * - `route`: the receiver's if this machine has a way to the internet at all, else internal.
 */
type Fault = 'receiver' | 'internal' | 'resolver' | 'route';

/** By the code of the error. Any code not in the table is the receiver's. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  // The resolver has answered that the name has no address, or is not a valid name.
  ENOTFOUND: 'receiver',
  ENODATA: 'receiver',
  EBADNAME: 'receiver',
  // No answer, or the answer that a name server did not respond: only this name's servers, or all of them.
  ETIMEOUT: 'resolver',
  ESERVFAIL: 'resolver',
  EREFUSED: 'resolver',
  EFORMERR: 'resolver',
  EBADRESP: 'resolver',
  ENOTIMP: 'resolver',
  // The resolver itself cannot be asked. (A receiver that refuses is ECONNREFUSED of a socket: see `faultOf`.)
  EAI_AGAIN: 'internal',
  EAI_FAIL: 'internal',
  ECANCELLED: 'internal',
  EDESTRUCTION: 'internal',
  EFILE: 'internal',
  ELOOKUPS: 'internal',
  // File descriptors, memory.
  EMFILE: 'internal',
  ENFILE: 'internal',
  ENOMEM: 'internal',
  ENOBUFS: 'internal',
  // No local port left; over IPv6 it may also mean that this machine has no IPv6.
  EADDRNOTAVAIL: 'internal',
  EADDRINUSE: 'internal',
  // This machine has no network, or the receiver's has none.
  ENETDOWN: 'route',
  ENETUNREACH: 'route',
  EHOSTUNREACH: 'route',
  // A packet filter that restricts outgoing connections: internal.
  EPERM: 'internal',
  EACCES: 'internal',
};

/** A timer that fires this late, in milliseconds, shows that this process was suspended or too busy. */
export const STALL_MS = 2_000;

/** An error in the form that the table needs. */
export interface FailedStep {
  readonly code: string;
  /** Whether it occurred while looking up a name, or while connecting to an address. */
  readonly step: 'lookup' | 'connection';
  /** The address, if one was dialled. */
  readonly address?: string | undefined;
}

/** The row of the table for one error. */
export function faultOf({ code, step, address }: FailedStep): Fault {
  if (step === 'lookup' && code === 'ECONNREFUSED') return 'internal';
  if (code === 'EADDRNOTAVAIL' && address?.includes(':') === true) return 'route';
  return FAULTS[code] ?? 'receiver';
}

/** Questions to ask if the code alone cannot decide. */
export interface Evidence {
  /** Whether our resolver answers at all. */
  resolverAnswers(): Promise<boolean>;
  /** Whether this machine has a way to the internet. */
  hasRoute(): Promise<boolean>;
}

async function isInternal(fault: Fault, evidence: Evidence): Promise<boolean> {
  if (fault === 'resolver') return !(await evidence.resolverAnswers());
  if (fault === 'route') return !(await evidence.hasRoute());
  return fault === 'internal';
}

/**
 * Whether a failure is internal. If there are several errors (one per address tried), all have to be internal: any
 * other error shows that we did reach the network.
 */
export async function isInternalFault(steps: readonly FailedStep[], evidence: Evidence): Promise<boolean> {
  for (const step of steps) {
    if (!(await isInternal(faultOf(step), evidence))) return false;
  }
  return steps.length > 0;
}
