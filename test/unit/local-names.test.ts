/** Names that are never looked up on a name server. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localNames } from '../../src/delivery/local-names.ts';
import { folderOfFile } from '../support/ends.ts';

const folder = await folderOfFile('waybill-hosts-');

test('localhost is loopback, invalid has no address, and other names are those of the file', async () => {
  const file = join(folder, 'hosts');
  await writeFile(file, '192.0.2.1 shop.example localhost\n');
  const known = localNames(file);
  const loopback = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  expect(known('localhost')).toEqual(loopback);
  expect(known('shop.localhost')).toEqual(loopback);
  expect(known('invalid')).toEqual([]);
  expect(known('shop.invalid')).toEqual([]);
  expect(known('shop.example')).toEqual([{ address: '192.0.2.1', family: 4 }]);
  for (const name of ['notlocalhost', 'localhost.example', 'isinvalid', 'invalid.example']) {
    expect(known(name)).toBeUndefined();
  }
});
