/**
 * Errors meant for people.
 *
 * Module lib, which imports nothing. Begin: each file stands alone.
 */

/** An error that a person can act on: shown as one sentence, without a stack. Any other keeps its stack. */
export class UserError extends Error {
  override readonly name: string = 'UserError';
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The message of an error, or anything else that was thrown, as part of a sentence. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** How an error that ends a program is shown: the sentence of a {@link UserError}, the stack of any other. */
export function shownError(error: unknown): string {
  if (error instanceof UserError) return error.message;
  if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
    return `The disk is full: ${error.message}.`;
  return error instanceof Error ? (error.stack ?? String(error)) : String(error);
}

export function exitCodeOf(error: unknown): number {
  return error instanceof UserError ? error.exitCode : 1;
}
