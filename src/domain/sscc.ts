/** Serial Shipping Container Codes: the labels of packages and pallets. */
import * as v from 'valibot';

/** The digits sum to a multiple of ten with weights 3, 1, 3, 1 … from the left (GS1 General Specifications 7.9). */
export function isSscc(value: string): boolean {
  if (!/^\d{18}$/.test(value)) return false;
  const sum = [...value].reduce(
    (total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 3 : 1),
    0,
  );
  return sum % 10 === 0;
}

export function sscc() {
  return v.pipe(
    v.string('must be 18 digits'),
    v.check(isSscc, 'must be 18 digits with a valid check digit'),
    v.metadata({
      jsonSchema: {
        type: 'string',
        pattern: '^\\d{18}$',
        description: 'Serial Shipping Container Code: 18 digits, the last one the GS1 check digit.',
      },
    }),
  );
}
