/** How often logins may fail: counted in Postgres, for all processes together and across restarts. */
import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Pool } from '../connection/pool.ts';

const DURATION_SECONDS = 15 * 60;

/** Failures allowed for one (e-shop, name, address) in that time. */
const FAILURES_PER_ACCOUNT = 10;

/** The limit of an address for all e-shops named by number together, as a multiple of that for one e-shop. */
const NUMBERS_FACTOR = 10;

export interface LoginAttempt {
  /** 0 if the API key belongs to no e-shop; a number that was typed in counts as it is. */
  readonly eshopId: number;
  /** Whether the e-shop was named by its number, which anyone can make up, and not by its key. */
  readonly byNumber: boolean;
  readonly username: string;
  readonly address: string;
}

function storeClient(sql: Pool) {
  return {
    async query({ text, values = [] }: { text: string; values?: (string | number | null)[] }) {
      const rows = await sql.unsafe(text, values);
      return { rows, rowCount: rows.count };
    },
  };
}

async function waitOf(step: Promise<RateLimiterRes>): Promise<number | null> {
  try {
    await step;
    return null;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return refused.msBeforeNext;
    throw refused;
  }
}

/** Hashed: names may have any length and content, and the store's key holds 255 characters. */
function accountKey({ eshopId, username, address }: LoginAttempt): string {
  return createHash('sha256')
    .update(JSON.stringify([eshopId, username, address]))
    .digest('base64url');
}

/**
 * The limits on logins. The looser one counts the failures of an address per e-shop: guesses without a valid API key
 * count against the address's limit for unknown keys, guesses with an e-shop's key against its limit for that e-shop.
 * So failures at one e-shop do not lock out others at the same address, which all share behind a proxy; and nobody
 * gets further guesses at an e-shop by using the limits of others. Numbers that belong to no e-shop are counted like
 * real ones, or the errors would reveal which ones exist. Since made-up numbers could evade every limit, an address
 * also has one for all numbers together. Only this limit can lock out all e-shops at an address.
 * @param perAddress failures allowed for one address at one e-shop in a quarter of an hour, in all accounts together
 */
export function createLoginLimits(sql: Pool, perAddress: number) {
  const shared = {
    storeClient: storeClient(sql),
    storeType: 'client',
    tableName: 'login_limits',
    // A migration creates it.
    tableCreated: true,
    duration: DURATION_SECONDS,
  };
  const accounts = new RateLimiterPostgres({ ...shared, keyPrefix: 'account', points: FAILURES_PER_ACCOUNT });
  // One of the limiters deletes expired rows; its timer does not keep the process running.
  const further = { ...shared, clearExpiredByTimeout: false };
  const addresses = new RateLimiterPostgres({ ...further, keyPrefix: 'address', points: perAddress });
  const numbers = new RateLimiterPostgres({
    ...further,
    keyPrefix: 'numbers',
    points: NUMBERS_FACTOR * perAddress,
  });
  /** The limits that an attempt counts towards, the widest first. */
  const limitsOf = (attempt: LoginAttempt) => [
    ...(attempt.byNumber ? [{ limiter: numbers, key: attempt.address }] : []),
    { limiter: addresses, key: `${attempt.eshopId}/${attempt.address}` },
    { limiter: accounts, key: accountKey(attempt) },
  ];
  return {
    /**
     * Counts an attempt as failed before the password is checked, so that simultaneous guesses cannot slip through.
     * @returns null if it may go on, otherwise how long to wait, in milliseconds
     */
    async begin(attempt: LoginAttempt): Promise<number | null> {
      const counted: ReturnType<typeof limitsOf> = [];
      for (const limit of limitsOf(attempt)) {
        const wait = await waitOf(limit.limiter.consume(limit.key));
        if (wait !== null) {
          // No password was checked: a client that keeps trying a locked account locks out nobody else.
          for (const { limiter, key } of counted) await limiter.reward(key);
          return wait;
        }
        counted.push(limit);
      }
      return null;
    },
    /** Takes the count back: clears the failures of this account, and this attempt of the address. */
    async succeeded(attempt: LoginAttempt): Promise<void> {
      await accounts.delete(accountKey(attempt));
      for (const { limiter, key } of limitsOf(attempt)) if (limiter !== accounts) await limiter.reward(key);
    },
  };
}
