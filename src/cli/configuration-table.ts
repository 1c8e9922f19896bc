/** The table of all environment variables, as docs/handbook/configure.md shows it. */
import { variables } from '../config/variables.ts';

/** What the schema says a variable means. */
function meaningOf(pipe: readonly { readonly type: string; readonly description?: unknown }[]): string {
  const found = pipe.find((item) => item.type === 'description')?.description;
  return typeof found === 'string' ? found : '';
}

/** One line per variable in Markdown: name, default, meaning. */
export function configurationTable(): string {
  const lines = Object.entries(variables.entries).map(([name, schema]) => {
    const fallback = schema.default === undefined || schema.default === '' ? '' : `\`${schema.default}\``;
    return `| \`${name}\` | ${fallback} | ${meaningOf(schema.wrapped.pipe)} |`;
  });
  return ['| variable | default | meaning |', '|---|---|---|', ...lines].join('\n');
}
