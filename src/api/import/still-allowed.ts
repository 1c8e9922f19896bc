/** Whether an import may go on: it may outlast its authentication by far. */
import { unauthorized } from '../../domain/problem.ts';
import { REFUSED } from '../authenticate.ts';

export const CHECK_MS = 2_000;

/**
 * @param ask the check of the authentication, which has just succeeded
 * @param everyMs how long its result is valid, in milliseconds
 */
export function createAccess(ask: () => Promise<boolean>, everyMs = CHECK_MS) {
  let askedAt = performance.now();
  let answer = Promise.resolve(true);
  let refused = false;

  return {
    /** True once refused. */
    refused: () => refused,
    /** @throws Problem 401 once refused, for good; an error of the database applies to this call alone */
    async check(): Promise<void> {
      if (!refused && performance.now() - askedAt >= everyMs) {
        askedAt = performance.now();
        answer = ask().catch((error: unknown) => {
          askedAt = Number.NEGATIVE_INFINITY;
          throw error;
        });
      }
      if (!(await answer)) refused = true;
      if (refused) throw unauthorized(REFUSED);
    },
  };
}

export type Access = ReturnType<typeof createAccess>;
