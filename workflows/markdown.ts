/**
 * Shows text of others in the Markdown that operators read in the Temporal UI: never as a link, picture or heading.
 */

/** Text without meaning in Markdown, apart from automatic links. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} .,:()/%+-]*$/u;
const LINK = /www\.|:\/\/|@/i;

/**
 * Shows text literally. Text that has no meaning in Markdown stays as it is; any other text is shown as code.
 * @param text one line: line breaks and other control characters become spaces
 */
export function literal(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ').trim();
  if (PLAIN.test(line) && !LINK.test(line)) return line;
  // A code span ends at its own fence of backticks; backticks inside would need a longer fence.
  return `\`${line.replaceAll('`', "'")}\``;
}

/** Shows text literally inside a table cell, where a bar would begin the next cell. */
export function literalCell(text: string): string {
  return literal(text).replaceAll('|', '\\|');
}
