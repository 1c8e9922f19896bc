/** Name and password of a user, checked within the limits of logins, for the API and the console. */
import { createLoginLimits, type LoginAttempt } from '../db/accounts/login-limits.ts';
import { findUser, passwordKinds, rehashPassword, type UserRow } from '../db/accounts/users.ts';
import { tooManyRequests } from '../domain/problem.ts';
import { hashPassword, isReplaced, verifyInConstantTime } from '../secrets/passwords.ts';
import { createPlaces } from './budget/places.ts';
import type { ApiDeps } from './deps.ts';

/**
 * Passwords checked at the same time: each takes memory and a processor. One per address, as eight from one address
 * made all other requests ten times as slow on two cores.
 */
const CONCURRENT_CHECKS = { total: 4, perKey: 1 } as const;

/** They take turns by address: a busy address delays only itself. @param message after waiting too long */
export const passwordPlaces = (message: string) => createPlaces(CONCURRENT_CHECKS, message);

export function credentialCheck({ sql, loginLimits }: Pick<ApiDeps, 'sql' | 'loginLimits'>) {
  const limits = createLoginLimits(sql, loginLimits.perAddress);
  /**
   * Checks a password; for a user who does not exist it takes the same time.
   * @returns null if the name or the password is wrong
   * @throws Problem 429 after too many failures
   */
  return async (attempt: LoginAttempt, password: string): Promise<UserRow | null> => {
    const wait = await limits.begin(attempt);
    if (wait !== null) throw tooManyRequests('Too many failed logins. Try again later.', wait);
    const [user, kinds] = await Promise.all([
      findUser(sql, attempt.eshopId, attempt.username),
      passwordKinds(sql),
    ]);
    const right = await verifyInConstantTime(kinds, user, password);
    if (user === null || !right) return null;
    await limits.succeeded(attempt);
    if (isReplaced(user.passwordHash, password))
      await rehashPassword(sql, user, await hashPassword(password));
    return user;
  };
}
