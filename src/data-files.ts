/**
 * The operator's own data files: they replace or extend what comes with the program.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { extendMarketplaces, shippedMarketplaces } from './domain/order/marketplaces.ts';
import {
  parseShipperCatalogue,
  type ShipperCatalogue,
  shippedCatalogue,
} from './domain/order/shipper-services.ts';
import { UserError } from './user-error.ts';

async function read<T>(path: string, parse: (json: unknown) => T): Promise<T> {
  try {
    return parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    throw new UserError(
      `The data file ${path} cannot be used: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/**
 * The carriers and their services.
 * @param path a JSON file in the form that `GET /v2/shipper-service-codes` answers in `data`; without it the catalogue
 * that comes with the program
 * @throws UserError naming the file and what is wrong with it
 */
export async function loadShipperCatalogue(path?: string): Promise<ShipperCatalogue> {
  return path === undefined ? shippedCatalogue : read(path, parseShipperCatalogue);
}

/**
 * The marketplaces.
 * @param path a JSON file with a list of further names; without it the ones that come with the program
 * @throws UserError naming the file and what is wrong with it
 */
export async function loadMarketplaces(path?: string): Promise<readonly string[]> {
  return path === undefined ? shippedMarketplaces : read(path, extendMarketplaces);
}
