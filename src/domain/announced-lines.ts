/**
 * Lines of receivings and returns, which an e-shop announces and the warehouse counts. A line is identified by its
 * SKU and lot; one that an update leaves out stays, marked D (docs/interface.md, R2).
 */
import * as v from 'valibot';
import { compareDecimals, count, sumDecimals } from './decimal.ts';
import { described, identifier, oneOf, optional, text } from './fields.ts';
import { itemsOf } from './list.ts';
import { type FieldProblem, invalid } from './problem.ts';
import { isObject, omitFields, problemIf } from './validation.ts';

/** E: enabled. D: disabled, left out by an update. */
const lineStates = ['E', 'D'] as const;

/** The fields of every such line. */
export interface AnnouncedLine {
  sku: string;
  /** Units announced; a decimal string. */
  quantity: string;
  lot: string | null;
  /** Units counted by the warehouse; null if not counted. */
  received: string | null;
  lineState: (typeof lineStates)[number];
}

type LineKey = Pick<AnnouncedLine, 'sku' | 'lot'>;

const sameLine = (a: LineKey, b: LineKey) => a.sku === b.sku && a.lot === b.lot;

/** The announced and counted fields of every such line of a record. */
export const lineEntries = {
  quantity: described(count(), 'Units announced; 0 for a lot that was found on arrival.'),
  received: described(optional(count()), 'Units counted by the warehouse; null before that.'),
  lineState: described(oneOf(lineStates), 'E: enabled. D: disabled, because an update left the line out.'),
};

/** Allowed in the warehouse's count and ignored, so that lines can be sent back as read. */
export const ignoredEntry = described(
  v.optional(v.unknown()),
  'Ignored, so that lines can be sent back as they were read.',
);

/** The fields of every entry of the warehouse's count. */
export const countEntries = {
  sku: described(identifier(), 'A product that was announced.'),
  lot: described(optional(text(64)), 'The lot that arrived. If left out, the lot of the line.'),
  received: described(v.nullable(count()), 'Units counted; null removes the count.'),
  quantity: ignoredEntry,
  lineState: described(
    v.optional(v.picklist(lineStates, 'must be E or D')),
    'A line sent with D is left as it is.',
  ),
};

export function enabled<Line extends AnnouncedLine>(lines: readonly Line[]): Line[] {
  return lines.filter(({ lineState }) => lineState === 'E');
}

export function unitsOf(lines: readonly AnnouncedLine[]): string {
  return sumDecimals(enabled(lines).map(({ quantity }) => quantity));
}

/** The units that have arrived: the count, or the announced number if not counted. */
export function arrivedUnits({ received, quantity }: AnnouncedLine): string {
  return received ?? quantity;
}

/**
 * The lines as an e-shop writes them, without the warehouse's fields and without lines marked D, so that a record can
 * be sent back as read.
 * @param lines anything but a list of objects is returned unchanged
 * @param responseOnly the warehouse's fields of a line
 */
export function writableLines(lines: unknown, responseOnly: readonly string[]): unknown {
  const sent = itemsOf(lines);
  if (sent.length === 0) return lines;
  return sent
    .filter((line) => !isObject(line) || line.lineState !== 'D')
    .map((line) => omitFields(line, responseOnly));
}

export function lineProblems(
  path: string,
  lines: readonly (LineKey & { readonly quantity: string })[],
  knownSkus: ReadonlySet<string>,
): FieldProblem[] {
  const problems = lines.flatMap((line, index): FieldProblem[] => {
    const at = `${path}.${index}`;
    const first = lines.findIndex((other) => sameLine(other, line));
    return [
      ...problemIf(!knownSkus.has(line.sku), `${at}.sku`, `"${line.sku}" is not a known product`),
      ...problemIf(compareDecimals(line.quantity, '0') <= 0, `${at}.quantity`, 'must be greater than 0'),
      ...problemIf(
        first !== index,
        at,
        `has the same product and lot as ${path}.${first}: combine them into one line`,
      ),
    ];
  });
  if (v.is(count(), sumDecimals(lines.map(({ quantity }) => quantity)))) return problems;
  return [...problems, { path, message: 'are too many units: their sum has more than 15 digits' }];
}

/**
 * The lines after an e-shop's update, in the order in which they were first sent; lines left out are marked D.
 * @param fresh makes a new line
 */
export function announce<Line extends AnnouncedLine, Sent extends LineKey>(
  before: readonly Line[],
  sent: readonly Sent[],
  fresh: (sent: Sent) => Line,
): Line[] {
  const remaining = before.map((line): Line => {
    const match = sent.find((each) => sameLine(each, line));
    return match === undefined ? { ...line, lineState: 'D' } : { ...line, ...match, lineState: 'E' };
  });
  const added = sent.filter((each) => !before.some((line) => sameLine(line, each)));
  return [...remaining, ...added.map(fresh)];
}

/**
 * The lines after the warehouse has counted. An entry belongs to the enabled line of its SKU and lot. If there is
 * none, and the entry or the line has no lot, it belongs to the next line of its SKU, which takes the known lot.
 * Another lot of an announced product becomes a new line with nothing announced. Lines without an entry stay.
 * @param path of the entries in the body
 * @param furtherLot makes a line for another lot from the announced line
 * @throws Problem 400 if a product was not announced, or a line is named twice
 */
export function enterCounts<Line extends AnnouncedLine, Entry extends LineKey>(
  before: readonly Line[],
  entries: readonly Entry[],
  path: string,
  furtherLot: (announced: Line) => Line,
): Line[] {
  const lines = [...before];
  const entered = new Set<number>();
  const problems: FieldProblem[] = [];
  for (const [index, entry] of entries.entries()) {
    const find = (matches: (line: Line) => boolean) =>
      lines.findIndex((line, at) => line.lineState === 'E' && !entered.has(at) && matches(line));
    const same = find((line) => sameLine(line, entry));
    const at =
      same >= 0 ? same : find(({ sku, lot }) => sku === entry.sku && (lot === null || entry.lot === null));
    const line = lines[at];
    const announced = lines.find(({ sku, lineState }) => sku === entry.sku && lineState === 'E');
    if (line !== undefined) {
      lines[at] = { ...line, ...entry, lot: entry.lot ?? line.lot };
      entered.add(at);
    } else if (announced === undefined) {
      problems.push({ path: `${path}.${index}.sku`, message: `"${entry.sku}" was not announced` });
    } else if (lines.some((each, other) => entered.has(other) && sameLine(each, entry))) {
      problems.push({ path: `${path}.${index}`, message: 'appears twice: enter the sum' });
    } else {
      entered.add(lines.push({ ...furtherLot(announced), quantity: '0', ...entry }) - 1);
    }
  }
  if (problems.length > 0) throw invalid(problems);
  return lines;
}
