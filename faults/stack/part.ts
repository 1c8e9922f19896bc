/** A part of the stack that can be taken away and brought back. */

/** A server or program with processes of its own. */
export interface Part {
  readonly name: string;
  /** SIGKILL to all its processes, as a power cut. Resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it is there and answers nothing. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Ends it as an operator does. Resolves when it is gone. */
  stop(): Promise<void>;
  /** Starts it again at the same address. Resolves once it serves. */
  start(): Promise<void>;
}
