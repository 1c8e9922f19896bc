/** A command's progress on the terminal's last line: on standard error, so that standard output can go to a file. */

interface ProgressBar {
  /** Counts one more line. */
  moved(): void;
  /** Hides the bar while something else is printed. */
  aside(work: () => void): void;
  end(): void;
}

const WIDTH = 30;

/** @param share how much is done, from 0 to 1; null if unknown: then there is only a count */
export function progressBar(
  share: () => number | null,
  terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): ProgressBar {
  if (terminal.isTTY !== true) return { moved() {}, aside: (work) => work(), end() {} };
  let count = 0;
  let shown = '';
  const clear = () => terminal.write('\r\u001b[K');
  const draw = () => {
    const done = share();
    const bar =
      done === null
        ? ''
        : `[${'#'.repeat(Math.round(done * WIDTH)).padEnd(WIDTH, '.')}] ${Math.floor(done * 100)} % `;
    const text = `${bar}${count} lines`;
    if (text === shown) return;
    shown = text;
    terminal.write(`\r${text}`);
  };
  return {
    moved() {
      count += 1;
      draw();
    },
    aside(work) {
      clear();
      shown = '';
      work();
      draw();
    },
    end: clear,
  };
}
