/**
 * Finds words that are not plain English of the trade, in prose and in identifiers, comments that are too wide, and
 * titles of tests without a subject: part of `npm run lint`. Prints file:line, what was found, and what to do; exit
 * code 1 if there is any.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exceptions, identifierParts, phrases, titleStarts } from './word-list.ts';

/** One place to change. */
export interface Hit {
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

const TEXT = /\.(?:ts|tsx|js|mjs|css|md|sql|ya?ml|json|py|go|java|rb|php|sh|svg)$|^[^.]+$|\/[^./]+$/;
const SOURCE = /\.(?:ts|tsx|js|mjs)$/;
const COMMENT = /^\s*(?:\/[/*]|\*)/;
/** Bounds a line of a comment in the sources. */
const MAX_COMMENT_COLUMNS = 118;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;
const TEST = /\.test\.ts$/;
/** A first word that is refused, in a call of `describe`, `it` or `test`, or of what `each` and the like return. */
const TITLE = new RegExp(
  `(?:\\b(?:describe|it|test)(?:\\.\\w+)*\\(|\\)\\()\\s*['"\`](${titleStarts.join('|')})\\b`,
  'gi',
);
/** "HTTPServer_sent2" has the parts http, server, sent and 2. */
const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;

/** An identifier of several parts that has this sequence of parts. */
function identifierIn(line: string): { found: string; instead: string } | null {
  for (const [identifier] of line.matchAll(IDENTIFIER)) {
    const parts = [...identifier.matchAll(PART)].map(([part]) => part.toLowerCase());
    if (parts.length < 2) continue;
    const spaced = ` ${parts.join(' ')} `;
    const rule = identifierParts.find(([sequence]) => spaced.includes(` ${sequence} `));
    if (rule !== undefined) return { found: identifier, instead: rule[1] };
  }
  return null;
}

/** All hits in a text. */
export function hitsIn(text: string): Hit[] {
  return text.split('\n').flatMap((content, index) => {
    const line = index + 1;
    const named = identifierIn(content);
    const said = phrases.flatMap(([pattern, instead]) => {
      const found = pattern.exec(content)?.[0];
      return found === undefined ? [] : [{ line, found, instead }];
    });
    return named === null ? said : [...said, { line, ...named }];
  });
}

/** The lines of comments that are too wide. @param file its path from the root: only sources are checked */
export function wideCommentsIn(file: string, text: string): Hit[] {
  if (!SOURCE.test(file)) return [];
  return text.split('\n').flatMap((content, index) => {
    if (content.length <= MAX_COMMENT_COLUMNS || !COMMENT.test(content)) return [];
    const found = `a comment of ${content.length} columns`;
    return [{ line: index + 1, found, instead: `shorten it, or wrap it at ${MAX_COMMENT_COLUMNS}` }];
  });
}

/** The titles of tests that leave their subject out. @param file its path from the root: only tests are checked */
export function titlesIn(file: string, text: string): Hit[] {
  if (!TEST.test(file)) return [];
  return [...text.matchAll(TITLE)].map(({ 0: call, 1: word, index }) => ({
    line: text.slice(0, index + call.length).split('\n').length,
    found: `a title that begins with "${word}"`,
    instead: 'begin with the subject, or a plain condition',
  }));
}

/** Whether a file is checked. @param file its path from the root, with `/` */
export const isChecked = (file: string): boolean =>
  TEXT.test(file) && !exceptions.some(([path]) => file === path || file.startsWith(`${path}/`));

function main(): void {
  const root = resolve(import.meta.dirname, '..');
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  let hits = 0;
  for (const file of listed.split('\n').filter(isChecked)) {
    const path = join(root, file);
    if (!existsSync(path)) continue;
    const text = readFileSync(path, 'utf8');
    for (const { line, found, instead } of [
      ...hitsIn(text),
      ...wideCommentsIn(file, text),
      ...titlesIn(file, text),
    ]) {
      console.error(`${file}:${line}: "${found}": ${instead}`);
      hits += 1;
    }
  }
  if (hits > 0) {
    console.error(
      `${hits} to change. tools/word-list.ts has the words, and the few exceptions with their reasons.`,
    );
    process.exitCode = 1;
  }
}

if (process.argv[1] === import.meta.filename) main();
