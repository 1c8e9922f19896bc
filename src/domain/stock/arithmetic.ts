/**
 * The arithmetic of stock: how movements and reservations change a product's units. Exact decimals, no I/O.
 *
 * Units lie in one of three places, `available`, `reserved` or `onHold`, and none of them is ever below zero:
 * - a hold or release moves units between `available` and `onHold`: `onHold` is the sum of the holds less the
 *   releases;
 * - a reservation moves units between `available` and `reserved` and is not a movement;
 * - every other movement brings or takes units: `available + reserved + onHold` is the sum of their counts.
 *
 * `awaiting` is separate: units announced, not yet here.
 */
import { compareDecimals, sumDecimals } from '../decimal.ts';
import type { StockMovementType } from '../event-types.ts';
import type { Stock } from '../product/schema.ts';

/**
 * The units of one product stay below this, so that no stock figure has more than 15 digits, six of them decimals:
 * a JSON number is exact up to there.
 */
export const UNITS_LIMIT = '1000000000';

export type StockChange = Partial<Stock>;

export function negated(decimal: string): string {
  if (decimal === '0') return decimal;
  return decimal.startsWith('-') ? decimal.slice(1) : `-${decimal}`;
}

export function applyChange(stock: Stock, change: StockChange): Stock {
  const sum = (place: keyof Stock) => sumDecimals([stock[place], change[place] ?? '0']);
  return {
    available: sum('available'),
    reserved: sum('reserved'),
    onHold: sum('onHold'),
    awaiting: sum('awaiting'),
  };
}

/** The effect of a movement of each type on the units of its product. */
const effects: Readonly<Record<StockMovementType, 'bringOrTake' | 'hold' | 'release'>> = {
  stock_correction: 'bringOrTake',
  completition: 'bringOrTake',
  order: 'bringOrTake',
  return: 'bringOrTake',
  receiving: 'bringOrTake',
  quality_hold: 'hold',
  quality_release: 'release',
};

/** Whether a type moves units between `available` and `onHold`; any other brings or takes units. */
export const isHoldOrRelease = (type: StockMovementType): boolean => effects[type] !== 'bringOrTake';

/**
 * How a movement changes each place.
 * @param count signed; positive for a hold or release
 * @param from where the units come from; movements of the order itself take reserved units
 */
export function changeOf(
  type: StockMovementType,
  count: string,
  from: 'available' | 'reserved' = 'available',
): StockChange {
  switch (effects[type]) {
    case 'hold':
      return { available: negated(count), onHold: count };
    case 'release':
      return { available: count, onHold: negated(count) };
    case 'bringOrTake':
      return { [from]: count };
  }
}

/** Why a stock is not possible; null if it is. */
export function shortage(stock: Stock): 'available' | 'onHold' | 'tooMuch' | null {
  const { available, reserved, onHold, awaiting } = stock;
  if (compareDecimals(available, '0') < 0) return 'available';
  if (compareDecimals(onHold, '0') < 0) return 'onHold';
  const here = sumDecimals([available, reserved, onHold]);
  if (compareDecimals(here, UNITS_LIMIT) >= 0 || compareDecimals(awaiting, UNITS_LIMIT) >= 0)
    return 'tooMuch';
  return null;
}

/** Units per SKU: the sum of the lines. */
export function unitsBySku(lines: readonly { readonly sku: string; readonly quantity: string }[]) {
  const units = new Map<string, string>();
  for (const { sku, quantity } of lines) units.set(sku, sumDecimals([units.get(sku) ?? '0', quantity]));
  return units;
}
