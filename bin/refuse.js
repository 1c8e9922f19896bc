/** Ends the process with one sentence: a stack trace would not help the user. */
export function refuse(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
