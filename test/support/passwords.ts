/** Passwords for users created by the hundred: hashed like real ones, at a thousandth of the cost. */
import { hash } from '@node-rs/argon2';

/** `verifyPassword` accepts it: the hash states its own cost. */
export const cheapHash = (password: string): Promise<string> =>
  hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
