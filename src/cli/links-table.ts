/** The questions of operators with their links, as README.md and docs/handbook/temporal-ui.md show them. */
import { EXAMPLE, listUrl, questionsAbout } from '../temporal/operator-questions.ts';

/** Where the UI of a first instance is. */
const UI = 'http://127.0.0.1:8233';

/** One line per question in Markdown, with the examples of the documents. */
export function linksTable(): string {
  const lines = questionsAbout(EXAMPLE).map(
    ({ question, query }) => `| [${question}](${listUrl(UI, 'default', query)}) | \`${query}\` |`,
  );
  return ['| question | query |', '|---|---|', ...lines].join('\n');
}
