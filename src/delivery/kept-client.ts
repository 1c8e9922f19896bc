/**
 * A kept connection, and the repetition of a request lost on it: a receiver may close the connection just as we use
 * it, without an answer. Such a request is sent again, on a fresh connection, once the first is closed.
 */
import { Client, type Dispatcher } from 'undici';

/** Repeats a request lost on a kept connection; called after that connection was closed. */
type SendAgain = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => void;

const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** A request, with the function to call when it is repeated. */
export interface RepeatableOptions extends Dispatcher.DispatchOptions {
  readonly onRepeat?: () => void;
}

/** A client of undici: hands over a request if its reused connection was closed before a byte of the response. */
export class KeptClient extends Client {
  readonly #again: SendAgain;
  /** Whether the connection has received a response. */
  #used = false;

  constructor(origin: URL, options: Client.Options, again: SendAgain) {
    super(origin, options);
    this.#again = again;
    this.on('connect', () => {
      this.#used = false;
    });
  }

  override dispatch(options: RepeatableOptions, handler: Dispatcher.DispatchHandler): boolean {
    let reused = false;
    let begun = false;
    // The pool always passes the older of undici's two kinds of handlers, regardless of the kind it got.
    return super.dispatch(options, {
      onConnect: (abort) => {
        reused = this.#used;
        handler.onConnect?.(abort);
      },
      // At the first byte of a response.
      onResponseStarted: () => {
        begun = true;
        this.#used = true;
      },
      onHeaders: (...head) => handler.onHeaders?.(...head) ?? true,
      onData: (chunk) => handler.onData?.(chunk) ?? true,
      onComplete: (trailers) => handler.onComplete?.(trailers),
      onError: (error) => {
        const lost = reused && !begun && 'code' in error && CLOSED.has(error.code);
        if (!lost) return handler.onError?.(error);
        options.onRepeat?.();
        this.#again(options, handler);
      },
    });
  }
}
