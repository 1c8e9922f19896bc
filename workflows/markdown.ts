/**
 * Foreign text in the Markdown that operators read in the Temporal UI: never a link, a picture or a heading.
 */

/** What neither Markdown nor its automatic links give a meaning to. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} .,:()/%+-]*$/u;
const LINK = /www\.|:\/\/|@/i;

/**
 * Shows text literally: as it is where Markdown has nothing to read in it, as code otherwise.
 * @param text one line: line breaks and other control characters become spaces
 */
export function literal(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ').trim();
  if (PLAIN.test(line) && !LINK.test(line)) return line;
  // A code span ends at its own fence of backticks; those inside would need a longer one.
  return `\`${line.replaceAll('`', "'")}\``;
}

/** The same inside a cell of a table, where a bar would begin the next one. */
export function literalCell(text: string): string {
  return literal(text).replaceAll('|', '\\|');
}
