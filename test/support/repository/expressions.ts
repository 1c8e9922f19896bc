/** PromQL, parsed only as far as needed to know which series an expression uses. */

/** A series in an expression, and the labels that select it. */
export interface Selected {
  readonly name: string;
  readonly labels: readonly string[];
}

/** Finds the names that are no function, keyword or label. */
export function selectedIn(expression: string): Selected[] {
  const grouped = /\b(?:by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)/g;
  const text = expression.replaceAll(/\[\w+\]|\boffset \w+/g, '').replaceAll(grouped, '');
  const found = text.matchAll(/(?<![\w:"])([a-zA-Z_][\w:]*)(?![\w:])\s*(\{[^}]*\})?(?!\s*\()/g);
  // Text in quotes or braces is not a name.
  const names = [...found].filter(([, name = '']) => !['and', 'or', 'unless', 'bool'].includes(name));
  return names
    .filter(({ index }) => !insideBraces(text, index))
    .map(([, name = '', braces = '']) => ({
      name,
      labels: [...braces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }));
}

function insideBraces(text: string, index: number): boolean {
  const before = text.slice(0, index);
  return before.lastIndexOf('{') > before.lastIndexOf('}');
}
