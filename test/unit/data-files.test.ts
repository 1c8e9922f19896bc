import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadDataFiles } from '../../src/config/data-files.ts';
import { folderOfFile } from '../support/ends.ts';

const folder = await folderOfFile('waybill-data-');

async function file(content: unknown): Promise<string> {
  const path = join(folder, 'data.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

test('without a data file, the shipped catalogue is used, and its values are unique', async () => {
  const services = (await loadDataFiles({})).shipperCatalogue.flatMap((shipper) =>
    shipper.services.map(({ value }) => value),
  );
  expect(services).toEqual(expect.arrayContaining(['PPL_PRIVATE', 'DPD_PICKUP', 'PACKETA_PICKUP_CZ']));
  expect(new Set(services).size).toBe(services.length);
});

test("the operator's carriers replace the shipped ones; marketplaces are added", async () => {
  const own = [
    {
      shipper: 'BIKE',
      name: 'Bicycle',
      services: [{ value: 'B1', name: 'B', countries: ['CZ'], pickupPoint: false, cashOnDelivery: true }],
    },
  ];
  const SHIPPER_SERVICES_FILE = await file(own);
  expect((await loadDataFiles({ SHIPPER_SERVICES_FILE })).shipperCatalogue).toEqual(own);
  const { marketplaces } = await loadDataFiles({ MARKETPLACES_FILE: await file(['heureka', 'otto']) });
  expect(marketplaces).toEqual([...(await loadDataFiles({})).marketplaces, 'heureka']);
});

test.each<[unknown, string]>([
  ['{', 'JSON'],
  [[{ shipper: 'X', name: 'X', services: [] }], '0.services'],
  [[{ shipper: 'X' }], '0.name: is required'],
])('the file %j is refused with its name and the mistake', async (content, message) => {
  const path = await file(content);
  const refused = loadDataFiles({ SHIPPER_SERVICES_FILE: path });
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toThrow(
    `SHIPPER_SERVICES_FILE must name a file that can be used, not "${path}": `,
  );
});

test.each(['SHIPPER_SERVICES_FILE', 'MARKETPLACES_FILE'])(
  'a missing or malformed %s is refused in one line',
  async (variable) => {
    for (const path of [join(folder, 'missing'), await file('some\nhost\n')]) {
      await expect(loadDataFiles({ [variable]: path })).rejects.toThrow(
        new RegExp(`^${variable} must .+\\.$`),
      );
    }
  },
);
