/** Ends the process with one sentence: the stack of whoever misses something would help nobody. */
export function refuse(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
