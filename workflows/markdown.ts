/**
 * Foreign text in the Markdown that operators read in the Temporal UI: never a link, a picture or a heading.
 */

/** Text without meaning in Markdown, apart from automatic links. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} .,:()/%+-]*$/u;
const LINK = /www\.|:\/\/|@/i;

/**
 * Shows text literally: as it is if Markdown gives it no meaning, otherwise as code.
 * @param text one line: line breaks and other control characters become spaces
 */
export function literal(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ').trim();
  if (PLAIN.test(line) && !LINK.test(line)) return line;
  // A code span ends at its own fence of backticks; backticks inside would need a longer fence.
  return `\`${line.replaceAll('`', "'")}\``;
}

/** The same inside a table cell, where a bar would begin the next cell. */
export function literalCell(text: string): string {
  return literal(text).replaceAll('|', '\\|');
}
