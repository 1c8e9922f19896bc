/**
 * A connection that is kept, and what becomes of a request that it loses: a receiver may close it at the very moment we use it, and
 * says nothing. Such a request goes once more, on a fresh connection, once the first is closed.
 */
import { Client, type Dispatcher } from 'undici';

/** Sends a request that a kept connection has lost once more; called after that connection was closed. */
type SendAgain = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => void;

const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** A client of undici that hands over what a reused connection closed without one byte of an answer. */
export class KeptClient extends Client {
  readonly #again: SendAgain;
  /** Whether the connection has had an answer. */
  #used = false;

  constructor(origin: URL, options: Client.Options, again: SendAgain) {
    super(origin, options);
    this.#again = again;
    this.on('connect', () => {
      this.#used = false;
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    let reused = false;
    let begun = false;
    // The pool hands over the older of undici's two kinds of handlers, whatever it was given itself.
    return super.dispatch(options, {
      onConnect: (abort) => {
        reused = this.#used;
        handler.onConnect?.(abort);
      },
      // At the first byte of an answer.
      onResponseStarted: () => {
        begun = true;
        this.#used = true;
      },
      onHeaders: (...head) => handler.onHeaders?.(...head) ?? true,
      onData: (chunk) => handler.onData?.(chunk) ?? true,
      onComplete: (trailers) => handler.onComplete?.(trailers),
      onError: (error) => {
        const lost = reused && !begun && 'code' in error && CLOSED.has(error.code);
        if (lost) this.#again(options, handler);
        else handler.onError?.(error);
      },
    });
  }
}
