/** The steps of a run: none stops another, and the run fails at its end. */
import type { Retained } from '../domain/retention-result.ts';
import { reasonOf } from '../lib/user-error.ts';

interface FailedStep {
  /** A partition, a table, or what was to be done. */
  readonly step: string;
  readonly error: unknown;
}

/** Some steps failed; all others were done. */
export class RetentionFailed extends Error {
  override readonly name = 'RetentionFailed';

  /** The parts that succeeded all the same. */
  readonly done: Retained;
  readonly failures: readonly FailedStep[];

  constructor(done: Retained, failures: readonly FailedStep[]) {
    const reasons = failures.map(({ step, error }) => `${step} (${reasonOf(error)})`);
    super(`Steps of the retention failed, and are left to the next run: ${reasons.join('; ')}.`);
    this.done = done;
    this.failures = failures;
  }
}

/** Does a step. Returns its result, or the other value if it failed. */
export type Attempt = <T>(step: string, work: () => Promise<T>, otherwise: T) => Promise<T>;

export function independentSteps(): { readonly failures: readonly FailedStep[]; readonly attempt: Attempt } {
  const failures: FailedStep[] = [];
  return {
    failures,
    async attempt(step, work, otherwise) {
      try {
        return await work();
      } catch (error) {
        failures.push({ step, error });
        return otherwise;
      }
    },
  };
}
