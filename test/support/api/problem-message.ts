/** The problems thrown by a pure function. */
import { Problem } from '../../../src/domain/problem.ts';

/** "400 message" of the problem that is thrown, or "nothing" if none is. */
export function problemMessage(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof Problem) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'nothing';
}
