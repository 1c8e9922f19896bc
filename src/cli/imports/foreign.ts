/** Lists from the APIs of other systems, as lines of webhooks; names are mapped by a small file of the operator. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { type EventType, eventTypeNames, sortedTypes } from '../../domain/event-types.ts';
import { parseOptions } from '../../lib/command-line.ts';
import { UserError } from '../../lib/user-error.ts';
import { type ForeignSystem, readers } from './foreign-records.ts';
import type { ImportLine } from './import-lines.ts';
import { fieldOf, textFieldOf, urlOf } from './problem.ts';

const type = v.picklist(
  eventTypeNames,
  "The map: each event type must map to one of Waybill's, such as CREATE_ORDER, or to a list of them.",
);
const EACH_ESHOP = 'The map: each customer must map to the number of an e-shop.';
const mappingSchema = v.strictObject(
  {
    /** Its event types, each with one or several of Waybill's; others have no counterpart. */
    types: v.record(
      v.string(),
      v.union(
        [
          v.pipe(
            type,
            v.transform((name) => [name]),
          ),
          v.array(type),
        ],
        type.message,
      ),
    ),
    /** Its customers (application, owner, tenant), each with the number of an e-shop. */
    eshops: v.optional(
      v.record(v.string(), v.pipe(v.number(EACH_ESHOP), v.integer(EACH_ESHOP)), EACH_ESHOP),
      {},
    ),
  },
  'The map must be {"types": {"order.created": "CREATE_ORDER"}, "eshops": {"tenant": 1}}.',
);
export type Mapping = v.InferOutput<typeof mappingSchema>;

/** @throws UserError naming the problem with the file */
export async function readMapping(file: string): Promise<Mapping> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new UserError(`${file} cannot be read: ${error.message}.`);
  });
  let read: unknown;
  try {
    // Some editors begin a file with a byte order mark, which a decoder leaves out.
    read = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // The parser's message repeats the text, which may be from a file with secrets.
    throw new UserError(`${file} is not JSON.`);
  }
  return parseOptions(mappingSchema, read);
}

/** The records of a list; anything else is one record. */
function recordsIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const data = fieldOf(value, 'data');
  if (Array.isArray(data)) return data;
  const content = fieldOf(data, 'content');
  return Array.isArray(content) ? content : [value];
}

/** A page that is not the last of its list: Svix has `done`, Convoy `has_next_page`. */
const pageSchema = v.union([
  v.object({ done: v.literal(false) }),
  v.object({ data: v.object({ pagination: v.object({ has_next_page: v.literal(true) }) }) }),
]);
/** The first page of a list from Convoy. */
const firstPageSchema = v.object({
  data: v.object({ pagination: v.object({ has_prev_page: v.literal(false) }) }),
});

/** The webhook of an endpoint, from the part of the list read so far. */
interface Endpoint {
  readonly line: number;
  /** A webhook without its types. */
  readonly webhook: object;
  readonly types: Set<EventType>;
}

function lineOf({ line, webhook, types }: Endpoint): ImportLine {
  const [webhookType, ...additionalTypes] = sortedTypes([...types]);
  return { line, value: { ...webhook, webhookType, additionalTypes } };
}

/**
 * A webhook for each endpoint with types that have a counterpart; a problem for each type that has none, and for a
 * missing page. Convoy may list an endpoint several times: its webhook gets all the types, and comes last.
 */
export function* foreignLines(
  system: ForeignSystem,
  lines: readonly ImportLine[],
  mapping: Mapping,
): Generator<ImportLine, void> {
  /** The previous page, if it was not the last of its list. */
  let before: { readonly line: number; readonly customer: unknown } | null = null;
  const cutOff = (line: number) => ({
    line,
    problem: 'is not the last page of its list: append the next one',
  });
  /** Webhooks that may occur again, by e-shop and name. */
  const endpoints = new Map<string, Endpoint>();
  for (const each of lines) {
    if ('problem' in each) {
      yield each;
      continue;
    }
    const records = recordsIn(each.value);
    // In Svix each application has its own list.
    const customer = fieldOf(records[0], 'appId');
    if (before !== null && (before.customer !== customer || v.is(firstPageSchema, each.value)))
      yield cutOff(before.line);
    for (const record of records) yield* webhookOf(system, each.line, record, { ...mapping, endpoints });
    before = v.is(pageSchema, each.value) ? { line: each.line, customer } : null;
  }
  yield* [...endpoints.values()].map(lineOf);
  if (before !== null) yield cutOff(before.line);
}

/** Identifies a record of a page: its URL, or its id in the other system. */
function nameOf(record: unknown): string {
  const within = [record, fieldOf(record, 'endpoint_metadata'), fieldOf(record, 'config')];
  const [url] = within.flatMap((each) => urlOf(each) ?? []);
  const name = url ?? textFieldOf(record, 'id') ?? textFieldOf(record, 'uid');
  return name === null ? '' : `${name}: `;
}

function* webhookOf(
  system: ForeignSystem,
  line: number,
  record: unknown,
  { types, eshops, endpoints }: Mapping & { readonly endpoints: Map<string, Endpoint> },
): Generator<ImportLine, void> {
  const read = v.safeParse(readers[system], record);
  if (!read.success) {
    const [issue] = read.issues;
    return yield {
      line,
      problem: `${nameOf(record)}${v.getDotPath(issue) ?? 'record'}: ${issue.message.replace(/ but received .*/s, '')}`,
    };
  }
  const { lost, customer, endpoint, types: wanted, ...webhook } = read.output;
  const eshop = customer !== null && Object.hasOwn(eshops, customer) ? eshops[customer] : undefined;
  if (customer !== null && eshop === undefined)
    return yield { line, problem: `${nameOf(record)}"${customer}" is not an e-shop in the map` };
  const found = new Set<EventType>();
  const names = wanted ?? Object.keys(types);
  const without = names.length === 0 ? ['an endpoint without event types has no counterpart'] : [];
  for (const name of names) {
    const counterparts = (Object.hasOwn(types, name) ? types[name] : undefined) ?? [];
    if (counterparts.length === 0) without.push(`"${name}" has no counterpart in the map`);
    for (const counterpart of counterparts) found.add(counterpart);
  }
  if (webhook.secret === null && found.size > 0)
    without.push('comes without its secret: its webhook gets a new one');
  for (const each of [...without, ...lost.map((part) => `${part} has no counterpart`)])
    yield { line, problem: `${nameOf(record)}${each}`, outcome: 'unmapped' };
  if (found.size === 0) return;
  const input = { ...webhook, method: 'POST', ...(eshop === undefined ? {} : { eshop }) };
  if (endpoint === null) return yield lineOf({ line, webhook: input, types: found });
  const key = JSON.stringify([eshop, endpoint]);
  const existing = endpoints.get(key);
  if (existing === undefined) endpoints.set(key, { line, webhook: input, types: found });
  else for (const type of found) existing.types.add(type);
}
