/** What every way to get the Temporal CLI is given. */

/** The start that the program is got for. */
export interface Getting {
  readonly env: NodeJS.ProcessEnv;
  /** Receives one line of text for every step that takes time. */
  readonly report: (text: string) => void;
  /** Aborted when the start is: whatever was begun for it ends. */
  readonly signal: AbortSignal;
}
