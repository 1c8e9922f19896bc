/** The files of `waybill import-webhooks` and `import-eshops`: a wrong line affects only itself. */
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { readImport } from '../../src/cli/imports/import-lines.ts';
import { lineEntries } from '../../src/cli/imports/webhook-import.ts';
import { folderOfFile } from '../support/ends.ts';

const folder = await folderOfFile('waybill-lines-');

const fields: v.ObjectEntries = { url: v.string(), note: v.nullish(v.string()), active: v.boolean() };

async function read(text: string, entries = fields): Promise<unknown[]> {
  const file = join(folder, 'lines');
  await writeFile(file, text);
  return (await readImport(file, entries)).map((each) => [
    each.line,
    'problem' in each ? each.problem : each.value,
  ]);
}
/** Not as an escape: the transform writes the character itself into the code, and the code may arrive changed. */
const BOM = String.fromCharCode(0xfeff);
const NOT_UTF8 = 'has bytes that are not UTF-8';
const NOT_JSON = 'is not JSON: write one whole object per line, as jq -c . does';
const UNCLOSED = 'has a quote that is not closed, or text after one that is';

test('CSV: quotes, line breaks, commas, JSON, empty fields and lines, and a byte order mark are read', async () => {
  const text =
    `${BOM}url, note ,active\r\n` +
    '"a,b","one\r\ntwo ""three""",true\r\n\r\nc "d",,\nlast,"",false,\n"x\r","",';
  expect(await read(text)).toEqual([
    [2, { url: 'a,b', note: 'one\r\ntwo "three"', active: true }],
    [5, { url: 'c "d"' }],
    [6, 'has more fields than the header line'],
    [7, { url: 'x\r' }],
  ]);
});

test('CSV: a quoted field may have 500 lines, not more', async () => {
  const lines = (count: number) => Array.from({ length: count }, () => 'x').join('\n');
  expect(await read(`url,note\na,"${lines(500)}"\n`)).toEqual([[2, { url: 'a', note: lines(500) }]]);
  expect((await read(`url,note\na,"${lines(501)}"\n`))[0]).toEqual([2, UNCLOSED]);
});

test('a UTF-16 file is refused with the reason', async () => {
  const file = join(folder, 'utf-16');
  await writeFile(file, Buffer.from(`${BOM}url,note\na,b\n`, 'utf16le'));
  expect(await readImport(file, fields)).toEqual([{ line: 1, problem: NOT_UTF8 }]);
});

test('CSV: only a line with invalid UTF-8 is refused', async () => {
  expect(await read('url,note\na,\ufffd\nb,c\n')).toEqual([
    [2, NOT_UTF8],
    [3, { url: 'b', note: 'c' }],
  ]);
});

test('CSV: only a line with an unclosed quote is refused, with or without another quote after it', async () => {
  expect(await read('url,note\na,"b\nc,"d"\ne,f\ng,"h\ni,j\n')).toEqual([
    [2, UNCLOSED],
    [3, { url: 'c', note: 'd' }],
    [4, { url: 'e', note: 'f' }],
    [5, UNCLOSED],
    [6, { url: 'i', note: 'j' }],
  ]);
  const key = 'k'.repeat(20);
  const long = `${`${key},l\n`.repeat(50_000)}m,n\n`;
  const found = await read(`url,note\na,"b\n${long}`);
  expect(found).toHaveLength(50_002);
  expect([found[0], found[1], found.at(-1)]).toEqual([
    [2, UNCLOSED],
    [3, { url: key, note: 'l' }],
    [50_003, { url: 'm', note: 'n' }],
  ]);
});

test.each([
  ['two titles of one name', 'url,note,url\na,b,c\n', 'has the column "url" twice'],
  ['titles that cannot be read', 'url,"note\na,b\n', UNCLOSED],
  [
    'titles that are unknown',
    'url,secert,nte\na,b,c\n',
    'has unknown columns: "secert", "nte"; columns are url, note, active',
  ],
  [
    'lines without titles',
    'https://a.example,whsec_a\nc,d\n',
    'is neither JSON nor a header line: columns are url, note, active',
  ],
])('CSV: %s are refused, with the whole file', async (_, text, problem) => {
  expect(await read(text)).toEqual([[1, problem]]);
});

test('NDJSON: only lines with invalid JSON or UTF-8 are refused', async () => {
  expect(await read('{"a":1}\n{\n\n{"b":"\ufffd"}\n{"c":2}')).toEqual([
    [1, { a: 1 }],
    [2, NOT_JSON],
    [4, NOT_UTF8],
    [5, { c: 2 }],
  ]);
});

test('a file that is too large or missing, or a folder, is refused', async () => {
  const large = join(folder, 'large');
  await writeFile(large, '');
  await truncate(large, 64 * 1024 * 1024 + 1);
  await expect(readImport(large, fields)).rejects.toThrow(
    /large is larger than 64 MiB: import it in parts\.$/,
  );
  await expect(readImport(join(folder, 'none'), fields)).rejects.toThrow(/none cannot be read: ENOENT/);
  await expect(readImport(folder, fields)).rejects.toThrow(/cannot be read: EISDIR/);
});

test('CSV: a field with invalid JSON is reported as such; FALSE from a spreadsheet is accepted', async () => {
  expect(await read('url,active\na,FALSE\nb,no')).toEqual([
    [2, { url: 'a', active: false }],
    [3, 'active: is not JSON'],
  ]);
});

test('CSV: a line cut off is refused, not read with empty fields', async () => {
  expect(await read('url,note,active\na,b,\nc,d')).toEqual([
    [2, { url: 'a', note: 'b' }],
    [3, 'has fewer fields than the header line'],
  ]);
});

test.each(['', '\n \r\n', BOM])('an empty file (%j) is refused', async (text) => {
  await expect(read(text)).rejects.toThrow('There is nothing to import: all lines are empty.');
});

test('JSON over several lines is refused with the expected form', async () => {
  expect(await read('{\n"url":1\n}')).toEqual([
    [1, NOT_JSON],
    [2, NOT_JSON],
    [3, NOT_JSON],
  ]);
});

/** Not the default of any field. */
const webhook: Record<keyof typeof lineEntries, unknown> = {
  eshop: 2,
  id: 12,
  url: 'https://shop.example/hooks',
  webhookType: 'UPDATE_ORDER',
  additionalTypes: ['UPDATE_ORDER_STATUS'],
  active: true,
  method: 'POST',
  parameters: { withPackingLists: true },
  payloadVersion: 'v21',
  description: '1',
  ordering: 'latest',
  skipOwn: true,
  asymmetric: true,
  headers: { 'X-Gateway-Key': 'a, "b"' },
  secret: 'a secret of their old system',
};

test.each(Object.entries(webhook))('CSV: the field %s of a webhook keeps its type', async (title, value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const found = await read(`${title}\n"${text.replaceAll('"', '""')}"\n`, lineEntries);
  expect(found).toEqual([[2, { [title]: value }]]);
});
