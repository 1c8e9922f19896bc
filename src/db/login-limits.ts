/** How often a login may fail: counted in Postgres, for all processes together and across restarts. */
import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Pool } from './pool.ts';

const DURATION_SECONDS = 15 * 60;

/** Failures of one (e-shop, name, address) in that time. */
const FAILURES_PER_ACCOUNT = 10;

/** How many times as often as at one e-shop an address may fail at all together that were named by their numbers. */
const NUMBERS_FACTOR = 10;

export interface LoginAttempt {
  /** 0 where the API key belongs to no e-shop; a number that was typed in counts as it is. */
  readonly eshopId: number;
  /** Whether the e-shop was named by its number, which anybody can make up, and not by its key. */
  readonly byNumber: boolean;
  readonly username: string;
  readonly address: string;
}

/**
 * The limits of logins. The looser one counts the failures of an address, for each e-shop by itself: whoever guesses
 * without a valid API key spends what that address has for unknown keys, and whoever guesses with the key of one e-shop
 * what it has for that e-shop. So neither keeps the other e-shops out that share the address, as all do behind a proxy;
 * and no number of guesses at one e-shop is let through by the others. Where the e-shop is named by a number, those that are
 * nobody's are counted like the others, or the refusals would tell which ones exist; so that making them up is no way round
 * all limits, an address also has one for all numbers together. There alone many failures keep all e-shops of an address out.
 */
interface LoginLimits {
  /**
   * Counts an attempt as failed before the password is looked at, so that simultaneous guesses cannot slip through.
   * @returns null when it may go on, else how long to wait, in milliseconds
   */
  begin(attempt: LoginAttempt): Promise<number | null>;
  /** Takes the count back: forgets the failures of this account, and that the address tried. */
  succeeded(attempt: LoginAttempt): Promise<void>;
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

/** Of any length and content; the store's key holds 255 characters. */
function accountKey({ eshopId, username, address }: LoginAttempt): string {
  return createHash('sha256')
    .update(JSON.stringify([eshopId, username, address]))
    .digest('base64url');
}

function addressKey({ eshopId, address }: LoginAttempt): string {
  return `${eshopId}/${address}`;
}

/** @param perAddress failures of one address at one e-shop in a quarter of an hour, whatever the account */
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
    { limiter: addresses, key: addressKey(attempt) },
    { limiter: accounts, key: accountKey(attempt) },
  ];
  return {
    async begin(attempt) {
      const counted: ReturnType<typeof limitsOf> = [];
      for (const limit of limitsOf(attempt)) {
        const wait = await waitOf(limit.limiter.consume(limit.key));
        if (wait !== null) {
          // No password was looked at: a client that keeps trying a locked account locks nobody else.
          for (const { limiter, key } of counted) await limiter.reward(key);
          return wait;
        }
        counted.push(limit);
      }
      return null;
    },
    async succeeded(attempt) {
      await accounts.delete(accountKey(attempt));
      for (const { limiter, key } of limitsOf(attempt)) if (limiter !== accounts) await limiter.reward(key);
    },
  };
}
