/** The meaning of another system's names here: a small file written by the operator. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { eventTypeNames } from '../../domain/event-types.ts';
import { checked } from '../../lib/command-line.ts';
import { UserError } from '../../lib/user-error.ts';

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
  return checked(mappingSchema, read);
}
