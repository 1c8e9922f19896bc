/**
 * Renders the JSON text of an entity for read endpoints and deliveries alike: a POST payload is the read endpoint's
 * `data`, byte for byte (docs/interface.md, D1). The input is the complete v2 record; v21 turns decimals into
 * numbers, and packing lists are left out unless requested.
 */
import type { PayloadVersion } from './decimal.ts';
import { type PersonalKind, withoutPersonalData } from './personal-data.ts';

/** Fields that hold a decimal wherever they occur. One list for all entities. */
export const decimalFields: ReadonlySet<string> = new Set([
  'quantity',
  'received',
  'unitsAmount',
  'count',
  'balance',
  'unitPrice',
  'price',
  'cashOnDelivery',
  'vatRate',
]);
/** Fields whose object holds only decimals. */
export const decimalObjects: ReadonlySet<string> = new Set(['stock']);
/** The field of an order product that is left out unless requested (docs/interface.md, D3). */
export const PACKING_LISTS = 'packingLists';

export interface RenderOptions {
  readonly version: PayloadVersion;
  /** Keeps `orderProducts[].packingLists`; other entities have none. */
  readonly withPackingLists: boolean;
  /** Empties the personal fields of a record of this kind; left out: none is emptied. */
  readonly withoutPersonalDataOf?: PersonalKind;
}

/**
 * @param snapshot the v2 record, as an object or as its JSON text
 * @throws SyntaxError if a text is not JSON
 */
export function renderValue(snapshot: string | object, options: RenderOptions): unknown {
  const record = typeof snapshot === 'string' ? JSON.parse(snapshot) : snapshot;
  const kind = options.withoutPersonalDataOf;
  return convert(kind === undefined ? record : withoutPersonalData(kind, record), options, false);
}

/**
 * The same as JSON text: the body of a POST delivery.
 * @throws SyntaxError if a text is not JSON
 */
export function render(snapshot: string | object, options: RenderOptions): string {
  return JSON.stringify(renderValue(snapshot, options));
}

/** @param inDecimals true inside an object that holds only decimals */
function convert(value: unknown, options: RenderOptions, inDecimals: boolean): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => convert(item, options, inDecimals));
  // A list of pairs would take four times as long. No field is called `__proto__`.
  const rendered: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === PACKING_LISTS && !options.withPackingLists) continue;
    const item: unknown = Reflect.get(value, key);
    if (typeof item === 'string') {
      // Exact, as a decimal has at most 15 digits.
      const isNumber = options.version === 'v21' && (inDecimals || decimalFields.has(key));
      rendered[key] = isNumber ? Number(item) : item;
    } else rendered[key] = convert(item, options, decimalObjects.has(key));
  }
  return rendered;
}
