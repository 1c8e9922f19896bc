/** The headers of a response that help to find out what is wrong with a receiver. */
import { withoutUnseen } from '../domain/text.ts';

/** The target of a redirect, the allowed methods, the responding server: nothing confidential by nature. */
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
/** The longest value, in UTF-16 units. */
const MAX_VALUE_CHARS = 500;

/**
 * The headers of a response that help to find a fault, by name in lower case, as text that can be shown.
 * @param hide masks secrets, before a value is cut: half a secret would not be recognized
 */
export function usefulHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  hide: (text: string) => string,
): Record<string, string> {
  const found = USEFUL.flatMap((name) => {
    const value = headers[name];
    if (value === undefined) return [];
    const text = hide(withoutUnseen(typeof value === 'string' ? value : value.join(', ')));
    return [[name, text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text]];
  });
  return Object.fromEntries(found);
}
