/**
 * Every sentence that somebody may read, in messages, mails, the command line, logs and the API's texts, as a list: whoever
 * adds or changes one reads it there once more. `npm run sentences` writes the list again.
 */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { sentencesIn, sentencesOf } from '../support/sentences.ts';

const root = resolve(import.meta.dirname, '../..');
const rooms = readdirSync(join(root, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `src/${name}`);

test('what is a sentence, and what is not', () => {
  const source = `
    import x from 'no sentence here';
    type T = 'no sentence either';
    const a = sql\`select nothing from here\`;
    const b = 'oneWord';
    const c = \`The order \${order.id} does not \` + (d ? 'exist at all.' : \`exist in \${e}.\`) + 'Sorry.';
    fail({ message: 'Never   mind.' }, \`\${f} is missing\`);
  `;
  expect(sentencesIn('example.ts', source)).toEqual([
    'The order {id} does not {…}Sorry.',
    'exist at all.',
    'exist in {e}.',
    'Never mind.',
    '{f} is missing',
  ]);
});

test('the sentences of the program are those of the list', async () => {
  const lists = [...rooms, 'src', 'workflows', 'activities', 'demo', 'receiver/src'].map((room) => {
    const elsewhere = room === 'src' ? rooms.flatMap((each) => sentencesOf(root, each)) : [];
    const own = sentencesOf(root, room).filter((sentence) => !elsewhere.includes(sentence));
    return `# ${room}\n\n${own.join('\n')}\n`;
  });
  await expect(lists.join('\n')).toMatchFileSnapshot('sentences.txt');
});
