import type { Context } from 'hono';
import type { ApiEnv } from '../deps.ts';

/** Does work that takes longer for a larger body, and charges the time to the e-shop's budget. */
export function charged<T>(c: Context<ApiEnv>, work: () => T): T {
  const began = performance.now();
  try {
    return work();
  } finally {
    c.var.allowance?.held(performance.now() - began);
  }
}
