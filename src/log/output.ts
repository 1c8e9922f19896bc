/**
 * Text for stdout or stderr, from a process that never waits for it: a full disk, a reader that stopped and a
 * paused terminal cost lines, and neither memory without end nor the end of the process.
 */
import { constants, openSync, write, writeSync } from 'node:fs';

export type Output = ReturnType<typeof createOutput>;

/**
 * The most text that waits, in bytes. Some 3,000 lines: less would lose lines to a reader that pauses for some
 * seconds under load, more would only be memory.
 */
const MAX_WAITING_BYTES = 1024 * 1024;
/**
 * The most text in one call: a call for each line costs much under load; a larger one only has to be split by the
 * system.
 */
const MAX_WRITE_BYTES = 64 * 1024;
/** The pause after a write that failed: shorter ones only cost processor time, longer ones fill the buffer. */
const RETRY_PAUSE_MS = 100;
/** How long the end of the process waits for a slow reader: less loses the last lines, more delays a restart. */
const EXIT_FLUSH_MS = 500;
/** The pause between writes at the end of the process, in milliseconds. */
const EXIT_PAUSE_MS = 10;

/** @param stream stdout or stderr of this process */
export function openOutput(stream: NodeJS.WriteStream & { fd: number }): Output {
  // Touched, Node makes a pipe non-blocking. What others write to it may fail too.
  stream.on('error', () => {});
  return createOutput(stream.isTTY ? nonBlocking(stream.fd) : stream.fd);
}

/** A terminal that is paused (Ctrl-S) would block the process that writes to it, and even its exit. */
function nonBlocking(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // Another system, or the terminal of another user.
    return fd;
  }
}

/** @param fd a file, or something that does not block */
export function createOutput(fd: number) {
  const waiting: { readonly text: string; readonly bytes: number }[] = [];
  let waitingBytes = 0;
  /** The text for the next call to write: the rest, if a text was only written in part. */
  let chunk: Buffer = Buffer.alloc(0);
  let busy = false;
  /** Whether a thread is writing the chunk; else, if busy, a failed write is to be repeated. */
  let underWay = false;
  let lost = 0;
  let lostUnreported = 0;
  let resumed: (lost: number) => void = () => {};

  function takeChunk(): boolean {
    if (chunk.length > 0) return true;
    let bytes = 0;
    let texts = 0;
    for (const each of waiting) {
      if (texts > 0 && bytes + each.bytes > MAX_WRITE_BYTES) break;
      bytes += each.bytes;
      texts += 1;
    }
    chunk = Buffer.from(
      waiting
        .splice(0, texts)
        .map(({ text }) => text)
        .join(''),
    );
    return chunk.length > 0;
  }
  function markWritten(bytes: number): void {
    waitingBytes -= bytes;
    chunk = chunk.subarray(bytes);
  }
  function next(): void {
    busy = takeChunk();
    underWay = busy;
    if (busy) write(fd, chunk, proceed);
    else tellLost();
  }
  function proceed(error: NodeJS.ErrnoException | null, bytes: number): void {
    underWay = false;
    if (error === null) {
      markWritten(bytes);
      next();
    } else setTimeout(next, RETRY_PAUSE_MS).unref();
  }
  function tellLost(): void {
    const count = lostUnreported;
    lostUnreported = 0;
    if (count > 0) resumed(count);
  }

  process.once('exit', () => {
    const end = performance.now() + EXIT_FLUSH_MS;
    // Node waits for its threads.
    if (underWay) markWritten(chunk.length);
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    while (takeChunk()) {
      try {
        markWritten(writeSync(fd, chunk));
      } catch (error) {
        const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
        if (!isFull || performance.now() > end) return;
        Atomics.wait(nobody, 0, 0, EXIT_PAUSE_MS);
      }
    }
  });

  return {
    /** Writes one line, or several together, as soon as there is room. Never throws. */
    write(text: string): void {
      const bytes = Buffer.byteLength(text);
      if (waitingBytes + bytes > MAX_WAITING_BYTES) {
        lost += 1;
        lostUnreported += 1;
        return;
      }
      waiting.push({ text, bytes });
      waitingBytes += bytes;
      if (!busy) next();
    },
    /** How often text was dropped, because too much waited. */
    lost: () => lost,
    /** @param report called with the number of lost texts each time that all waiting text was written after a loss */
    onResumed(report: (lost: number) => void): void {
      resumed = report;
    },
  };
}
