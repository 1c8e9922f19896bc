/** The line on a terminal that shows the progress of the day. */
import ora from 'ora';

const WIDTH = 24;

/** Progress of a longer task. */
export interface Progress {
  show(done: number, total: number, text: string): void;
  /** Removes the line. */
  stop(): void;
}

/** @example bar(3, 4, 8) // '██████░░' */
export function bar(done: number, total: number, width = WIDTH): string {
  const full = total === 0 ? width : Math.min(width, Math.round((done / total) * width));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** Shows progress on stderr; silent if that is not a terminal, and on request. */
export function createProgress(silent: boolean): Progress {
  const { isTTY, columns } = process.stderr;
  // A terminal may report zero columns, and then no line ever fits.
  const isSeen = isTTY && columns > 0 && !silent;
  // A raw terminal would keep Ctrl-C from becoming a signal.
  const spinner = ora({ discardStdin: false, isSilent: !isSeen });
  return {
    show(done, total, text) {
      spinner.text = `${bar(done, total)} ${String(done).padStart(String(total).length)}/${total}  ${text}`;
      if (!spinner.isSpinning) spinner.start();
    },
    stop: () => void spinner.stop(),
  };
}
