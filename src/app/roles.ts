/** The roles of a process, loaded late: that takes longer than loading all the rest of the program. */
import type { Settings } from '../config/variables.ts';

/** Loads those that the process has; null for the other. */
export async function rolesOf(role: Settings['ROLE']) {
  return await Promise.all([
    role === 'worker' ? null : import('./api-role.ts'),
    role === 'api' ? null : import('./worker-role.ts'),
  ]);
}
