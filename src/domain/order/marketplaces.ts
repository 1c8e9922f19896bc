/** The marketplaces an order may come from. The operator's data file extends the list. */
import * as v from 'valibot';
import shipped from '../data/marketplaces.json' with { type: 'json' };
import { text } from '../fields.ts';
import { validate } from '../validation.ts';

export const shippedMarketplaces: readonly string[] = shipped;

/**
 * @param json a list of names
 * @throws Problem 400 if it is no such list
 */
export function extendMarketplaces(json: unknown): readonly string[] {
  const names = validate(v.array(text(64, 1), 'must be a list of names'), json);
  return [...new Set([...shippedMarketplaces, ...names])];
}
