/**
 * What somebody has claimed stays theirs while they work on it, and is anybody's soon after they were killed.
 */
import { LEASE_SECONDS } from './outbox.ts';

/** Between two renewals, in milliseconds: three may fail before the lease ends. */
const RENEWAL_MS = (LEASE_SECONDS * 1000) / 4;

/**
 * Does the work, and renews the lease meanwhile. A renewal that fails stops nothing: at worst somebody else does the same
 * work, and all of it may be done twice.
 */
export async function whileLeased<T>(renew: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void renew().catch(() => {}), RENEWAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
