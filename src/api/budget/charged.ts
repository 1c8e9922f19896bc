import type { Context } from 'hono';
import type { ApiEnv } from '../deps.ts';

/** Does what takes the longer the larger a body is, and charges the e-shop's budget with how long it took. */
export function charged<T>(c: Context<ApiEnv>, work: () => T): T {
  const began = performance.now();
  try {
    return work();
  } finally {
    c.var.allowance?.held(performance.now() - began);
  }
}
