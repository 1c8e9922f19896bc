/**
 * How often a login may fail: counted in Postgres, so that all processes count together and a restart forgets
 * nothing.
 * @module
 */
import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Pool } from './pool.ts';

/** A quarter of an hour, in seconds. */
const DURATION_SECONDS = 15 * 60;

/** Failures of one (e-shop, name, address) in that time. */
const FAILURES_PER_ACCOUNT = 10;

/** Whose login is counted. */
export interface LoginAttempt {
  /** 0 where the API key belongs to no e-shop. */
  readonly eshopId: number;
  /** The e-shop's number as given, where it is given as one; default: `eshopId`. */
  readonly account?: number;
  readonly username: string;
  readonly address: string;
}

/**
 * The two limits of logins. The looser one counts the failures of an address, for each e-shop by itself: whoever guesses
 * without a valid API key spends what that address has for unknown keys, and whoever guesses with the key of one e-shop
 * what it has for that e-shop. So neither keeps the other e-shops out that share the address, as all do behind a proxy;
 * and no number of guesses at one e-shop is let through by the others.
 */
export interface LoginLimits {
  /**
   * Counts an attempt as failed before the password is looked at, so that guesses sent at the same moment cannot
   * slip through together.
   * @returns null when it may go on, else how long to wait, in milliseconds
   */
  begin(attempt: LoginAttempt): Promise<number | null>;
  /** Takes the count back: forgets the failures of this account, and that the address tried. */
  succeeded(attempt: LoginAttempt): Promise<void>;
}

/** The Postgres client that rate-limiter-flexible expects, built on postgres.js. */
function storeClient(sql: Pool) {
  return {
    async query({ text, values = [] }: { text: string; values?: (string | number | null)[] }) {
      const rows = await sql.unsafe(text, values);
      return { rows, rowCount: rows.count };
    },
  };
}

/** Runs a limiter's step: null when points were left, else the wait. */
async function waitOf(step: Promise<RateLimiterRes>): Promise<number | null> {
  try {
    await step;
    return null;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return refused.msBeforeNext;
    throw refused;
  }
}

/** Of any length and content; the store's key holds 255 characters. */
function accountKey({ eshopId, account = eshopId, username, address }: LoginAttempt): string {
  return createHash('sha256')
    .update(JSON.stringify([account, username, address]))
    .digest('base64url');
}

function addressKey({ eshopId, address }: LoginAttempt): string {
  return `${eshopId}/${address}`;
}

/**
 * Makes the limits.
 * @param perAddress failures of one address at one e-shop in a quarter of an hour, whatever the account
 */
export function createLoginLimits(sql: Pool, perAddress: number): LoginLimits {
  const shared = {
    storeClient: storeClient(sql),
    storeType: 'client',
    tableName: 'login_limits',
    // A migration creates it.
    tableCreated: true,
    duration: DURATION_SECONDS,
  };
  const accounts = new RateLimiterPostgres({ ...shared, keyPrefix: 'account', points: FAILURES_PER_ACCOUNT });
  // One of the two limiters deletes expired rows; its timer does not keep the process running.
  const addresses = new RateLimiterPostgres({
    ...shared,
    keyPrefix: 'address',
    points: perAddress,
    clearExpiredByTimeout: false,
  });
  return {
    async begin(attempt) {
      const addressWait = await waitOf(addresses.consume(addressKey(attempt)));
      if (addressWait !== null) return addressWait;
      const accountWait = await waitOf(accounts.consume(accountKey(attempt)));
      // No password was looked at: a client that keeps trying a locked account locks nobody else.
      if (accountWait !== null) await addresses.reward(addressKey(attempt));
      return accountWait;
    },
    async succeeded(attempt) {
      await accounts.delete(accountKey(attempt));
      await addresses.reward(addressKey(attempt));
    },
  };
}
