/** The titles of the tests in a file, read from its syntax tree; of a table of tests, the title as it is written. */
import { readFileSync } from 'node:fs';
import { type ESTree, parseSync, Visitor } from 'vite';

/** How a function was called: `it.skip.each([…])` → `['it', 'skip', 'each']`. */
function chainOf(callee: ESTree.Expression | ESTree.Super): string[] {
  if (callee.type === 'Identifier') return [callee.name];
  if (callee.type === 'CallExpression') return chainOf(callee.callee);
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return [];
  return [...chainOf(callee.object), callee.property.name];
}

/** Without those that are skipped. @param file its path */
export function testTitlesIn(file: string): string[] {
  const { program, errors } = parseSync(file, readFileSync(file, 'utf8'));
  if (errors.length > 0) throw new Error(`${file} cannot be parsed.`);
  const titles: string[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      const [name = '', ...how] = chainOf(callee);
      if (!['it', 'test'].includes(name) || how.some((each) => ['skip', 'todo'].includes(each))) return;
      if (title?.type === 'Literal' && typeof title.value === 'string') titles.push(title.value);
    },
  }).visit(program);
  return titles;
}
