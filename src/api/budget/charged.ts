import type { Allowance } from './allowance.ts';

/**
 * Does work that takes longer for a larger body or record, and charges the time to the e-shop's budget.
 * @param allowance none without a budget
 */
export function charged<T>(allowance: Allowance | undefined, work: () => T): T {
  const began = performance.now();
  try {
    return work();
  } finally {
    allowance?.held(performance.now() - began);
  }
}
