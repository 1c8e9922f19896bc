/** A document's Markdown → HTML, with links between pages, anchors to copy, colored code, choices of languages. */
import { raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import MarkdownIt, { type Token } from 'markdown-it';
import { CodeBlock, type Snippet, Snippets } from './code-view.tsx';

interface Heading {
  readonly level: number;
  readonly id: string;
  readonly title: string;
}

export interface PageText {
  readonly title: string;
  /** The first paragraph, as text. */
  readonly summary: string;
  readonly headings: readonly Heading[];
  readonly html: HtmlEscapedString;
  /** The sections as text, for the search: the one before the first heading has no heading. */
  readonly sections: readonly { readonly heading: Heading | null; readonly text: string }[];
}

/** The anchor of a heading, as on GitHub, so that links work in both places. */
function headingAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

const parser = new MarkdownIt({ html: false });

/** Adjacent snippets, by the token that shows them. */
const together = new WeakMap<Token, Snippet[]>();

function textOf(token: Token | undefined): string {
  const parts = token?.children ?? [];
  return parts.map(({ type, content }) => (/break$/.test(type) ? ' ' : content)).join('');
}

/** The info string is `js`, or `js Node.js`, where the second word is the label in a choice of snippets. */
function snippetOf({ info, content }: Token): Snippet {
  const [language = '', ...label] = info.trim().split(/\s+/);
  return { language, label: label.join(' '), text: content };
}

function isLabeled(token: Token | undefined): boolean {
  return token?.type === 'fence' && snippetOf(token).label !== '';
}

/** Where a link leads; null if what it names is no part of the site: then its words stay, without a link. */
type HrefOf = (href: string) => string | null;

/** The parts of a paragraph, with their links to pages. Links do not nest. */
function linked(parts: readonly Token[], hrefOf: HrefOf): Token[] {
  let isLink = true;
  return parts.filter((part) => {
    if (part.type === 'link_open') {
      const href = hrefOf(String(part.attrGet('href')));
      isLink = href !== null;
      if (href !== null) part.attrSet('href', href);
    }
    return isLink || (part.type !== 'link_open' && part.type !== 'link_close');
  });
}

/** Marks links and headings, and groups adjacent labeled code. */
function prepared(
  tokens: readonly Token[],
  hrefOf: HrefOf,
): { tokens: Token[]; headings: Heading[]; title: string } {
  const kept: Token[] = [];
  const headings: Heading[] = [];
  const used = new Map<string, number>();
  let title = '';
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) continue;
    if (token.type === 'heading_open') {
      const heading = textOf(tokens[index + 1]);
      if (token.tag === 'h1') {
        title = heading;
        index += 2;
        continue;
      }
      const base = headingAnchor(heading);
      const count = used.get(base) ?? 0;
      used.set(base, count + 1);
      const id = count === 0 ? base : `${base}-${count}`;
      token.attrSet('id', id);
      headings.push({ level: Number(token.tag.slice(1)), id, title: heading });
    }
    if (token.children !== null) token.children = linked(token.children, hrefOf);
    const last = kept.at(-1);
    const before = last === undefined ? undefined : together.get(last);
    if (isLabeled(token) && before !== undefined) {
      before.push(snippetOf(token));
      continue;
    }
    if (isLabeled(token) && isLabeled(tokens[index + 1])) {
      together.set(token, [snippetOf(token)]);
    }
    kept.push(token);
  }
  return { tokens: kept, headings, title };
}

parser.renderer.rules.fence = (tokens, index) => {
  const token = tokens[index];
  if (token === undefined) return '';
  const snippets = together.get(token);
  return `${snippets === undefined ? CodeBlock(snippetOf(token)) : Snippets({ id: `code-${index}`, snippets })}`;
};
parser.renderer.rules.table_open = () => '<div class="scroll" tabindex="0"><table>';
parser.renderer.rules.table_close = () => '</table></div>';
/** A right-aligned column holds numbers. The parser marks it by a style, which the page's security policy ignores. */
const cell: typeof parser.renderer.renderToken = (tokens, index, options) => {
  const token = tokens[index];
  if (token !== undefined && token.attrGet('style') !== null) {
    const toTheRight = token.attrGet('style') === 'text-align:right';
    token.attrs = toTheRight ? [['class', 'number']] : null;
  }
  return parser.renderer.renderToken(tokens, index, options);
};
/** The corner of a table has no title: as a heading it would have to say something. */
const isCorner = (tokens: readonly Token[], content: number) => tokens[content]?.content === '';
parser.renderer.rules.th_open = (tokens, index, options) =>
  isCorner(tokens, index + 1) ? '<td>' : cell(tokens, index, options);
parser.renderer.rules.th_close = (tokens, index) => (isCorner(tokens, index - 1) ? '</td>\n' : '</th>\n');
parser.renderer.rules.td_open = cell;
parser.renderer.rules.heading_open = (tokens, index) => {
  const id = parser.utils.escapeHtml(String(tokens[index]?.attrGet('id')));
  const linked = tokens[index + 1]?.children?.some(({ type }) => type === 'link_open') === true;
  return `<${tokens[index]?.tag} id="${id}">${linked ? '<span>' : `<a href="#${id}">`}`;
};
parser.renderer.rules.heading_close = (tokens, index) => {
  const linked = tokens[index - 1]?.children?.some(({ type }) => type === 'link_open') === true;
  return `${linked ? '</span>' : '</a>'}</${tokens[index]?.tag}>\n`;
};

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): PageText['sections'] {
  const sections: { heading: Heading | null; text: string }[] = [{ heading: null, text: '' }];
  let next = 0;
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      sections.push({ heading: headings[next] ?? null, text: '' });
      next += 1;
    } else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') {
      const section = sections.at(-1);
      if (section !== undefined) section.text += `${textOf(token)} `;
    }
  });
  return sections.filter(({ heading, text }) => heading !== null || text !== '');
}

/** Reads a document. Its first heading is its title, which the page shows separately. */
export function readPage(markdown: string, hrefOf: HrefOf): PageText {
  const { tokens, headings, title } = prepared(parser.parse(markdown, {}), hrefOf);
  const first = tokens.findIndex(({ type }) => type === 'paragraph_open');
  return {
    title,
    summary: textOf(tokens[first + 1]),
    headings,
    html: raw(parser.renderer.render(tokens, parser.options, {})),
    sections: sectionsOf(tokens, headings),
  };
}
