/** Ends the process with one sentence: the stack of whoever misses something would help nobody. */
export function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
