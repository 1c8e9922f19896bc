/** The operator's own data files: they replace or extend those of the program. */
import { readFile } from 'node:fs/promises';
import { extendMarketplaces, shippedMarketplaces } from '../domain/order/marketplaces.ts';
import { parseShipperCatalogue, shippedCatalogue } from '../domain/shipper-services.ts';
import { UserError } from '../lib/user-error.ts';
import type { Settings } from './variables.ts';

type FileSettings = Pick<Settings, 'SHIPPER_SERVICES_FILE' | 'MARKETPLACES_FILE'>;

async function read<T>(
  settings: FileSettings,
  variable: keyof FileSettings,
  shipped: T,
  parse: (json: unknown) => T,
): Promise<T> {
  const path = settings[variable];
  if (path === undefined) return shipped;
  try {
    return parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    // The parser quotes its input, line breaks included.
    const reason = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
    throw new UserError(`${variable} must name a file that can be used, not "${path}": ${reason}.`);
  }
}

/** @throws UserError naming the variable, the file and the problem */
export async function loadDataFiles(settings: FileSettings) {
  return {
    /** In the form of `data` of `GET /v2/shipper-service-codes`; replaces the program's catalogue. */
    shipperCatalogue: await read(settings, 'SHIPPER_SERVICES_FILE', shippedCatalogue, parseShipperCatalogue),
    /** The program's marketplaces and those of the file. */
    marketplaces: await read(settings, 'MARKETPLACES_FILE', shippedMarketplaces, extendMarketplaces),
  };
}
