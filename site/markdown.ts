/** The Markdown of our own texts → HTML. HTML tags in a text are escaped, and so are links to scripts. */
import { raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import MarkdownIt from 'markdown-it';
import { anchor } from '../src/domain/text.ts';

const renderer = new MarkdownIt({ html: false });

renderer.renderer.rules.heading_open = (tokens, index) => {
  const title = tokens[index + 1]?.content ?? '';
  return `<${tokens[index]?.tag} id="${anchor(title)}">`;
};

export function blocks(text: string): HtmlEscapedString {
  return raw(renderer.render(text).trim());
}

export function inline(text: string): HtmlEscapedString {
  return raw(renderer.renderInline(text));
}
