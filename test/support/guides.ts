/** The guides: `docs/guides/*.md`, and the code in them. */
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../docs/guides/', import.meta.url);

/** A fenced block. */
export interface Block {
  /** Of the document, without `.md`. */
  readonly guide: string;
  /** Where its text begins, counted from 1. */
  readonly line: number;
  /** The first word behind the fence; empty where there is none. */
  readonly language: string;
  readonly text: string;
}

/** The names of all guides, without `.md`. */
export function guideNames(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length));
}

/** The Markdown of a guide. */
export function guideText(name: string): string {
  return readFileSync(new URL(`${name}.md`, folder), 'utf8');
}

/** The fenced blocks of a guide, in their order. */
export function blocksOf(guide: string): Block[] {
  const text = guideText(guide);
  return [...text.matchAll(/^```(\w*)(?: [^\n]*)?\n([\s\S]*?)^```$/gm)].map((match) => ({
    guide,
    line: text.slice(0, match.index).split('\n').length + 1,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }));
}
