/** However an import ends, everything that it created has been printed: keys and secrets are shown nowhere else. */
import { expect, test } from 'vitest';
import { type Outcome, runImport } from '../../src/cli/imports/run-import.ts';

interface Made {
  readonly outcome: Outcome;
  readonly key: string;
}

/** Imports three lines as a table; answers its output, and how it ended. @param before each of them */
async function imported(before: (value: unknown) => void) {
  const printed: string[] = [];
  const ended = await runImport<Made>({
    noun: 'e-shop',
    lines: ['a', 'b', 'c'].map((value, index) => ({ line: index + 1, value })),
    async importOne(value) {
      before(value);
      return { outcome: 'created', key: `key-${value}` };
    },
    refused: (_value, key, outcome) => ({ outcome, key }),
    cells: ({ key }) => ({ key }),
    dryRun: false,
    json: false,
    print: (line) => printed.push(line),
  }).then(
    () => 'done',
    (error: unknown) => String(error),
  );
  return { printed: printed.join('\n'), ended };
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s in the middle of a line: the line is finished and printed',
  async (name) => {
    const { printed, ended } = await imported((value) => {
      if (value === 'b') process.emit(name);
    });
    for (const key of ['key-a', 'key-b']) expect(printed).toContain(key);
    expect(printed).not.toContain('key-c');
    expect(ended).toContain('Stopped.');
  },
);

test('a failure in the middle of a file: earlier lines are printed', async () => {
  const { printed, ended } = await imported((value) => {
    if (value === 'b') throw new Error('the database is unavailable');
  });
  expect(printed).toContain('key-a');
  expect(ended).toContain('the database is unavailable');
});
