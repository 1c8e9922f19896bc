/** Schemas of fields that several entities share. */
import currencyCodes from 'currency-codes';
import isoCountries from 'i18n-iso-countries';
import * as v from 'valibot';

const countries: ReadonlySet<string> = new Set(Object.keys(isoCountries.getAlpha2Codes()));
const currencies: ReadonlySet<string> = new Set(currencyCodes.codes());

/** Counts code points, as JSON Schema does, and not UTF-16 units. */
export function isLonger(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}

/** At most this many characters; documented as `maxLength`. valibot's own action counts UTF-16 units. */
export function atMost(max: number, message: string) {
  const plain = v.maxLength<string, number, string>(max, message);
  const counting: typeof plain = {
    ...plain,
    '~run': (dataset, config) =>
      dataset.typed && !isLonger(dataset.value, max) ? dataset : plain['~run'](dataset, config),
  };
  return counting;
}

/**
 * Text of at most `max` characters and at least `min`. Characters that cannot be stored are refused earlier
 * (`invalid-text.ts`).
 */
export function text(max: number, min = 0) {
  return v.pipe(
    v.string('must be a string'),
    v.minLength(min, min === 1 ? 'must not be empty' : `must have at least ${min} characters`),
    atMost(max, `must have at most ${max} characters`),
  );
}

/** Checks text. @param problemOf returns the message; null if there is no problem */
export const withoutProblem = (problemOf: (text: string) => string | null) =>
  v.rawCheck<string>(({ dataset, addIssue }) => {
    const message = dataset.typed ? problemOf(dataset.value) : null;
    if (message !== null) addIssue({ message });
  });

/** An identifier given by the e-shop: 1–64 characters of any kind, percent-encoded in paths. */
export function identifier() {
  return v.pipe(
    text(64, 1),
    // URL parsers resolve these two even if percent-encoded.
    v.check(
      (value) => value !== '.' && value !== '..',
      'must not be "." or "..", which cannot be used in a path',
    ),
  );
}

/** An object with a name of its own in the documentation. @param ref the name */
export function component<const Entries extends v.ObjectEntries>(ref: string, entries: Entries) {
  return v.pipe(v.object(entries), v.metadata({ ref }));
}

/** The same, but unknown fields are refused, as in requests. */
export function strictComponent<const Entries extends v.ObjectEntries>(ref: string, entries: Entries) {
  return v.pipe(v.strictObject(entries), v.metadata({ ref }));
}

export function described<const S extends v.GenericSchema>(schema: S, description: string) {
  return v.pipe(schema, v.description(description));
}

/** Absent or `null` in a request is `null` in the record. */
export function optional<const S extends v.GenericSchema>(schema: S) {
  return v.nullish(schema, null);
}

/** True or false; absent in a request is false, or the default given. */
export function flag(fallback = false) {
  return v.optional(v.boolean('must be true or false'), fallback);
}

export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return v.picklist(values, `must be one of ${values.join(', ')}`);
}

export function integerOf<const T extends readonly [number, ...number[]]>(values: T, message: string) {
  return v.pipe(
    v.picklist(values, message),
    // Without it the generated schema would say "number".
    v.metadata({ jsonSchema: { type: 'integer', enum: values } }),
  );
}

/** A whole number within bounds, both inclusive. */
export function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

// Values in responses.

export function wholeNumber() {
  return v.pipe(v.number(), v.integer());
}

export function time() {
  return v.pipe(v.string(), v.isoTimestamp());
}

export function uuid() {
  return v.pipe(v.string(), v.uuid('must be a UUID'));
}

/** The number of a record in this service, in responses. */
export function recordNumber() {
  return v.pipe(
    wholeNumber(),
    // Client generators would choose a smaller type.
    v.metadata({ jsonSchema: { type: 'integer', format: 'int64' } }),
  );
}

/** The same as text, in a path or a query. Any integer is valid; an unknown one leads to 404. */
export function recordNumberText(jsonSchema: object = {}) {
  return v.pipe(
    v.string(),
    v.regex(/^-?\d+$/, 'must be an integer'),
    v.metadata({
      jsonSchema: {
        type: 'integer',
        format: 'int64',
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
        ...jsonSchema,
      },
    }),
    v.transform(Number),
    v.safeInteger('is too large'),
  );
}

/** A code of a standard, in capitals. @param name its component in the documentation */
function codeOf(
  codes: ReadonlySet<string>,
  name: string,
  letters: string,
  standard: string,
  example: string,
) {
  const code = `must be a ${name.toLowerCase()} code of ${letters}`;
  return v.pipe(
    v.string(`${code} letters (${standard})`),
    v.check((value) => codes.has(value), `${code} capital letters (${standard})`),
    v.metadata({
      ref: name,
      jsonSchema: { type: 'string', enum: [...codes], description: `${standard}, such as ${example}.` },
    }),
  );
}

/** See docs/interface.md, O6. */
export const country = () => codeOf(countries, 'Country', 'two', 'ISO 3166-1 alpha-2', 'CZ');

export const currency = () => codeOf(currencies, 'Currency', 'three', 'ISO 4217', 'EUR');

export function email() {
  return v.pipe(text(254), v.rfcEmail('must be an e-mail address'));
}

const HTTP = /^[Hh][Tt][Tt][Pp][Ss]?:/;

/** An absolute http or https address of at most 2,048 characters. */
export function webAddress() {
  const problem = 'must be an absolute http or https URL';
  return v.pipe(
    text(2048, 1),
    v.regex(HTTP, problem),
    // Report one problem only.
    v.check((value) => !HTTP.test(value) || URL.canParse(value), problem),
  );
}
