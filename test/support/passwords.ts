/** Passwords of users who are made by the hundred: hashed like real ones, at a thousandth of the cost. */
import { hash } from '@node-rs/argon2';

/** What `verifyPassword` takes: the hash says what it cost. */
export const cheapHash = (password: string): Promise<string> =>
  hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
