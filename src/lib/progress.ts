/** Progress of a longer task on standard error: a bar on a terminal, otherwise lines if they are asked for. */
import ora from 'ora';

const WIDTH = 24;
/** The time between two lines where there is no terminal, in milliseconds. */
const LINE_INTERVAL_MS = 3_000;

export interface Progress {
  show(done: number, total: number, text: string): void;
  /** Removes the bar. */
  stop(): void;
}

/** @example bar(3, 4, 8) // '██████░░' */
export function bar(done: number, total: number, width = WIDTH): string {
  const full = total === 0 ? width : Math.min(width, Math.round((done / total) * width));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

const count = (done: number, total: number) => `${String(done).padStart(String(total).length)}/${total}`;

/** A line at once, and then one every few seconds. */
export function progressLines(write: (line: string) => void, intervalMs = LINE_INTERVAL_MS): Progress {
  let writtenAt = Number.NEGATIVE_INFINITY;
  return {
    show(done, total, text) {
      if (performance.now() - writtenAt < intervalMs) return;
      writtenAt = performance.now();
      write(`${count(done, total)}  ${text}\n`);
    },
    stop: () => {},
  };
}

/**
 * Shows progress, unless it is to be silent.
 * @param withLines shows lines where there is no terminal: for commands that a person waits for
 */
export function createProgress(silent: boolean, { withLines = false } = {}): Progress {
  const { isTTY, columns } = process.stderr;
  // A terminal may report zero columns; then no bar ever fits.
  const isSeen = isTTY && columns > 0;
  if (!isSeen && withLines && !silent) return progressLines((line) => process.stderr.write(line));
  // On a raw terminal Ctrl-C would not become a signal.
  const spinner = ora({ discardStdin: false, isSilent: !isSeen || silent });
  return {
    show(done, total, text) {
      spinner.text = `${bar(done, total)} ${count(done, total)}  ${text}`;
      if (!spinner.isSpinning) spinner.start();
    },
    stop: () => void spinner.stop(),
  };
}
