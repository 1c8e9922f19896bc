/** Highlights code on the server: pages load no highlighter. */
import { createRequire } from 'node:module';
import { raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import MarkdownIt from 'markdown-it';

/** The part of the package that is used. Its own types would declare browser globals everywhere. */
interface Highlighter {
  registerLanguage(name: string, language: () => object): void;
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string }): { value: string };
}

const languages = [
  'bash',
  'go',
  'http',
  'ini',
  'java',
  'javascript',
  'json',
  'php',
  'python',
  'ruby',
  'sql',
  'typescript',
  'yaml',
] as const;

const load = createRequire(import.meta.url);
const highlighter: Highlighter = load('highlight.js/lib/core');
for (const name of languages) highlighter.registerLanguage(name, load(`highlight.js/lib/languages/${name}`));

const { escapeHtml } = new MarkdownIt().utils;

/** @param language its name or alias, such as `js`; unknown ones are only escaped */
export function highlighted(code: string, language: string): HtmlEscapedString {
  const known = highlighter.getLanguage(language) !== undefined;
  return raw(known ? highlighter.highlight(code, { language }).value : escapeHtml(code));
}
