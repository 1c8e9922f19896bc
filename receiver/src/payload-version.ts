/** Whether a record is in v2 (decimal strings) or in v21 (numbers): the record itself does not say. */
import { decimalFields, decimalObjects } from './kinds.ts';
import type { PayloadVersion } from './payloads.generated.ts';
import { Refused } from './refused.ts';

/** The version of a record, by the first decimal in it; null if it has none. */
export function payloadVersionOf(value: unknown, inDecimals = false): PayloadVersion | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, item] of Object.entries(value)) {
    const isDecimal = inDecimals || decimalFields.includes(name);
    if (isDecimal && typeof item === 'string') return 'v2';
    if (isDecimal && typeof item === 'number') return 'v21';
    const inside = payloadVersionOf(item, decimalObjects.includes(name));
    if (inside !== null) return inside;
  }
  return null;
}

/** @throws Refused if a record is not in the version that the receiver expects */
export function checkPayloadVersion(kind: string, json: string, expected: PayloadVersion | undefined): void {
  if (expected === undefined) return;
  const found = payloadVersionOf(JSON.parse(json));
  if (found === null || found === expected) return;
  const what = `${kind} came in ${found}, and this receiver expects ${expected}`;
  const remedy = `give it payloadVersion: '${found}' (for GET set waybill() to ${expected}), or set the webhook to ${expected}`;
  throw new Refused('setup', 500, `${what}: ${remedy}.`);
}
