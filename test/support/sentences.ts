/**
 * Every sentence that somebody may read: found in the syntax trees of the program, wherever a text has two words.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'vite';

/** Two words, the second of which may be a value. */
const SENTENCE = /\p{L}[\p{L}\p{N}\p{P}]*\s+[\p{L}\p{N}`"'({]/u;

/** Code and style that the documentation page shows or uses, and records as examples. */
const NO_SENTENCES = /documentation\/(?:receiver-code|style)\.ts$|^samples\.ts$/;

/** What stands for a value in a sentence: its name, where it has one. */
function placeholder(expression: ESTree.Expression): string {
  if (expression.type === 'Identifier') return `{${expression.name}}`;
  if (expression.type === 'MemberExpression' && expression.property.type === 'Identifier') {
    return `{${expression.property.name}}`;
  }
  return '{…}';
}

/** The text of an expression, values as placeholders; texts added to each other are one. */
function textOf(node: ESTree.Expression): string {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral') {
    return node.quasis
      .map(({ value }, index) => {
        const expression = node.expressions[index];
        return (value.cooked ?? value.raw) + (expression === undefined ? '' : placeholder(expression));
      })
      .join('');
  }
  if (node.type === 'BinaryExpression' && node.operator === '+')
    return textOf(node.left) + textOf(node.right);
  return placeholder(node);
}

/** The sentences of a program's text. */
export function sentencesIn(name: string, source: string): string[] {
  const { program, errors } = parseSync(name, source);
  if (errors.length > 0) throw new Error(`${name} cannot be parsed.`);
  const found: string[] = [];
  /** What is part of a text that has been read, or none of our texts. */
  const done = new Set<object>();
  const read = (node: ESTree.Expression) => {
    if (!done.has(node)) found.push(textOf(node));
  };
  new Visitor({
    ImportDeclaration: ({ source }) => void done.add(source),
    TSLiteralType: ({ literal }) => void done.add(literal),
    // SQL, above all.
    TaggedTemplateExpression: ({ quasi }) => void done.add(quasi),
    BinaryExpression(node) {
      if (node.operator !== '+') return;
      read(node);
      done.add(node.left).add(node.right);
    },
    Literal: read,
    TemplateLiteral: read,
    JSXText: ({ value }) => void found.push(value.replaceAll(/\s+/g, ' ')),
  }).visit(program);
  return found.flatMap(linesOf);
}

/** The lines of a text that say something; of Markdown, these are the paragraphs and entries of lists. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return lines.filter((line) => SENTENCE.test(line));
}

/** The sentences of a room, each once, in alphabetical order. */
export function sentencesOf(root: string, room: string): string[] {
  const files = readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !NO_SENTENCES.test(file))
    .map((file) => join(root, room, file));
  const all = files.flatMap((file) => sentencesIn(file, readFileSync(file, 'utf8')));
  return [...new Set(all)].sort();
}
