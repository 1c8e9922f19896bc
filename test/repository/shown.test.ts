/** The output shown in the documents is the program's. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationTable } from '../../src/cli/configured-commands.ts';
import {
  CHANGE_LATE_SECONDS,
  HELD_UP_LATE_SECONDS,
  MAIL_LATE_SECONDS,
  MIN_DAYS_AHEAD,
  QUEUE_LATE_SECONDS,
} from '../../src/cli/status.ts';
import { EXAMPLE, listUrl, operatorQuestions } from '../../src/temporal/operator-questions.ts';

const root = new URL('../../', import.meta.url);
/** The UI of a first instance. */
const UI = 'http://127.0.0.1:8233';
const chapter = (name: string) => readFileSync(new URL(`docs/handbook/${name}.md`, root), 'utf8');

it('the table of variables is what `waybill variables` prints', () => {
  expect(chapter('configure')).toContain(`\n${configurationTable()}\n`);
});

it('the questions of operators have the links and queries of `waybill links`', () => {
  const lines = operatorQuestions(EXAMPLE).map(
    ({ question, query }) => `| [${question}](${listUrl(UI, 'default', query)}) | \`${query}\` |`,
  );
  const table = ['| question | query |', '|---|---|', ...lines].join('\n');
  expect(chapter('temporal-ui')).toContain(`\n${table}\n`);
});

it('`waybill status` and the handbook agree on when something is late', () => {
  const unclaimed = `due in the queue for more than ${QUEUE_LATE_SECONDS} seconds`;
  const waited = `has waited for more than ${CHANGE_LATE_SECONDS} seconds`;
  const unsent = `for more than ${MAIL_LATE_SECONDS} seconds, unless`;
  const heldUp = `has been open for more than ${HELD_UP_LATE_SECONDS} seconds`;
  const ahead = `exist for less than ${MIN_DAYS_AHEAD} days ahead`;
  for (const bound of [unclaimed, waited, heldUp, unsent, ahead])
    expect(chapter('daily-work')).toContain(bound);
});
