/** The exit codes of commands besides 0 and 1, as in docs/handbook/commands.md. */

/** The command ran, and something in it failed, was refused, was canceled or does not replay. */
export const SOME_FAILED = 2;
/** The command could not answer the whole question. */
export const INCONCLUSIVE = 3;
