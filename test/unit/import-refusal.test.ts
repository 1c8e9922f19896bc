/** Messages about refused lines and a wrong map reveal nothing that may be a secret. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMapping } from '../../src/cli/imports/foreign.ts';
import { urlOf } from '../../src/cli/imports/problem.ts';
import { folderOfFile } from '../support/ends.ts';

const folder = await folderOfFile('waybill-map-');

test.each([
  ['https://a.example/x', 'https://a.example/x'],
  ['https://a.example/@team?mail=a@b.example', 'https://a.example/@team?mail=a@b.example'],
  ['https://u:p@a.example/x', 'https://•••@a.example/x'],
  ['https:/u:p@a.example', 'https:/•••@a.example'],
  ['https:\\\\u:p@a.example', 'https:\\\\•••@a.example'],
  ['https://me:to/k7n@a.example', 'https://•••@a.example'],
  ['https://me:a@b@a.example', 'https://•••@a.example'],
  ['u:p@a.example', '•••@a.example'],
  ['ftp://u:p@a.example', 'ftp://•••@a.example'],
  ['u:p\n@a.example', '•••@a.example'],
  [`https://${'u'.repeat(300)}@a.example`, 'https://•••@a.example'],
  ['', null],
  [7, null],
])('the URL %j is shown as %j', (url, shown) => {
  expect(urlOf({ url })).toBe(shown);
});

async function mapping(text: string) {
  const file = join(folder, 'map.json');
  await writeFile(file, text);
  return await readMapping(file);
}

test('a map may begin with a byte order mark', async () => {
  expect(await mapping(`${String.fromCharCode(0xfeff)}{"types":{"a":"CREATE_ORDER"}}`)).toEqual({
    types: { a: ['CREATE_ORDER'] },
    eshops: {},
  });
});

test.each(['"k7n-secret"', '1.5', 'null'])(
  'a map with the e-shop %s is refused, without the value',
  async (eshop) => {
    await expect(mapping(`{"types":{},"eshops":{"a":${eshop}}}`)).rejects.toThrow(
      /^The map: each customer must map to the number of an e-shop\.$/,
    );
  },
);
