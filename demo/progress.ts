/** The line on a terminal that says how far the day is. */
import ora from 'ora';

const WIDTH = 24;

/** What is shown while something takes its time. */
export interface Progress {
  show(done: number, total: number, text: string): void;
  /** Takes the line away. */
  stop(): void;
}

/** @example bar(3, 4, 8) // '██████░░' */
export function bar(done: number, total: number, width = WIDTH): string {
  const full = total === 0 ? width : Math.min(width, Math.round((done / total) * width));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** Shows progress on stderr; silent when that is no terminal, and on request. */
export function createProgress(silent: boolean): Progress {
  const { isTTY, columns } = process.stderr;
  // A terminal may say that it has no columns at all, and then no line ever fits into it.
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
