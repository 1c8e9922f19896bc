/** Headers of a receiver's answer, as far as they help to find out what is wrong with it. */
import { safeText } from './excerpt.ts';

/** Where a redirect leads, what is allowed instead, who answered: nothing that is confidential by its nature. */
const USEFUL = [
  'allow',
  'content-length',
  'content-type',
  'date',
  'location',
  'retry-after',
  'server',
  'via',
  'www-authenticate',
  'x-powered-by',
  'x-request-id',
  'x-waybill-handled',
];
/** Of one value, in UTF-16 units. */
const MAX_VALUE_CHARS = 500;

/**
 * The useful ones of an answer, by name in lower case, as text that can be shown.
 * @param hide takes out what nobody may see, before a value is cut: of half a secret nothing would be known
 */
export function usefulHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  hide: (text: string) => string,
): Record<string, string> {
  const found = USEFUL.flatMap((name) => {
    const value = headers[name];
    if (value === undefined) return [];
    const text = hide(safeText(typeof value === 'string' ? value : value.join(', ')));
    return [[name, text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text]];
  });
  return Object.fromEntries(found);
}
