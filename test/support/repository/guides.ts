/** The guides (`docs/guides/*.md`) and the code in them. */
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../../docs/guides/', import.meta.url);

/** A fenced block. */
export interface Block {
  /** The document's name without `.md`. */
  readonly guide: string;
  /** The first line of its text, counted from 1. */
  readonly line: number;
  /** The first word after the fence; empty if there is none. */
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

/** The fenced blocks of a guide, in order. */
export function blocksOf(guide: string): Block[] {
  const text = guideText(guide);
  return [...text.matchAll(/^```(\w*)(?: [^\n]*)?\n([\s\S]*?)^```$/gm)].map((match) => ({
    guide,
    line: text.slice(0, match.index).split('\n').length + 1,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }));
}
