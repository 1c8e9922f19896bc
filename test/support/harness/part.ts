/** A part of the stack that can be taken away and brought back. */

/** A server or program with its own processes. */
export interface Part {
  /** SIGKILL to all its processes, like a power cut. Resolves once it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it exists but answers nothing. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Ends it as an operator does. Resolves once it is gone. */
  stop(): Promise<void>;
  /** Starts it again at the same address. Resolves once it serves. */
  start(): Promise<void>;
}
