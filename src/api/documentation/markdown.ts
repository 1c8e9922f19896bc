/**
 * The little Markdown of our own texts → HTML: headings, paragraphs, lists, code, bold. Everything else is text.
 * @module
 */

/** Text for HTML content and attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** An anchor for a heading. */
export function anchor(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** Code spans and bold in one line of text. */
export function inlineMarkdown(text: string): string {
  // Split at code spans first: nothing inside them is markup.
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`') && part.length > 1
        ? `<code>${escapeHtml(part.slice(1, -1))}</code>`
        : escapeHtml(part).replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>'),
    )
    .join('');
}

/** Blocks, separated by empty lines. */
export function markdown(text: string): string {
  return text
    .trim()
    .split(/\n{2,}|\n(?=- )(?<!- .*\n)/)
    .map(block)
    .join('\n');
}

function block(text: string): string {
  const heading = /^(#{2,4}) (.*)$/.exec(text);
  if (heading !== null) {
    const [, marks = '##', title = ''] = heading;
    const level = marks.length;
    return `<h${level} id="${anchor(title)}">${inlineMarkdown(title)}</h${level}>`;
  }
  if (/^- /m.test(text) && text.startsWith('- ')) {
    const items = text.split(/^- /m).slice(1);
    return `<ul>${items.map((item) => `<li>${inlineMarkdown(item.trim())}</li>`).join('')}</ul>`;
  }
  return `<p>${inlineMarkdown(text)}</p>`;
}
