/**
 * Lists that can be read in two ways: by page, newest first, or from a cursor on, oldest first, so that a reader who
 * continues from its cursor misses nothing (docs/interface.md, L7).
 */
import { MAX, NIL } from 'uuid';
import * as v from 'valibot';
import type { Sql } from '../db/connection/pool.ts';
import { MAX_COUNTED_ROWS, type Slice } from '../db/id-range.ts';
import { lowWaterMark } from '../db/maintenance/low-water-mark.ts';
import { described, uuid } from '../domain/fields.ts';
import { idBefore } from '../domain/id-time.ts';
import { invalid } from '../domain/problem.ts';
import { type Page, pageOf, pageQuery, paginationOf } from './pagination.ts';

/** The query parameters of such a list, to be spread into the entries given to `query()`. */
export const cursorQuery = {
  ...pageQuery,
  after: v.optional(
    v.pipe(
      uuid(),
      v.description(
        `Only the entries after this identifier, oldest first. \`${NIL}\` begins with the oldest entry, \`${MAX}\` with those written from now on. Cannot be combined with \`page\`.`,
      ),
      v.examples([NIL]),
    ),
  ),
};

/** The object beside `data` when a list is read from a cursor. */
export const Cursor = v.pipe(
  v.object({
    after: described(
      uuid(),
      `The next \`after\`: the last identifier in \`data\`, or the one in the request if \`data\` is empty; or how far the search got, if a filter matches few of very many entries. After \`${MAX}\`: an identifier before everything that is still being written, and perhaps before entries of the last few seconds.`,
    ),
    more: described(v.boolean(), 'True if there is more to read now.'),
  }),
  v.description('Instead of `pagination` if `after` was sent.'),
  v.metadata({ ref: 'Cursor' }),
);

/** Where the pages of a list end, in Markdown. */
export const pagesEnd = `\`totalCount\` and the pages end at ${MAX_COUNTED_ROWS.toLocaleString('en-US')}`;

/** How to read such a list, in Markdown. */
export const readTwice = `The list can be read in two ways. By page, newest first: ${pagesEnd}. From a cursor, oldest first: \`after\` is the last identifier that you have read, and the response has \`cursor\` instead of \`pagination\`. Continue with \`cursor.after\`, and you miss nothing: an entry that is still being written, and all entries after it, are listed once it is complete, usually within a second or two.`;

interface Source<Row> {
  list(slice: Slice): Promise<readonly Row[]>;
  /** @param afterId as in a `Slice` */
  count(afterId?: string): Promise<number>;
  /** The row before which a list has to end, as it would look through too many rows. Left out: no limit. */
  endOf?(slice: Slice): Promise<string | undefined>;
}

/** @throws Problem 400 for a page beyond the counted rows, and for a page together with a cursor */
export async function readList<Row extends { readonly id: string }>(
  sql: Sql,
  asked: v.InferOutput<v.ObjectSchema<typeof cursorQuery, undefined>>,
  source: Source<Row>,
) {
  const page = pageOf(asked);
  const { after } = asked;
  if (after !== undefined) {
    if (asked.page !== undefined)
      throw invalid([{ path: 'page', message: 'cannot be combined with after, which has no pages' }]);
    const before = await lowWaterMark(sql);
    // The highest id asks to begin now: not at the newest row, as an older one may be committed after it.
    if (after.toLowerCase() === MAX) return { rows: [], cursor: { after: before, more: false } };
    const slice = { limit: page.limit + 1, after, before };
    const end = await source.endOf?.(slice);
    const rows = await source.list(end === undefined ? slice : { ...slice, before: end });
    const listed = rows.slice(0, page.limit);
    if (rows.length > listed.length)
      return { rows: listed, cursor: { after: listed.at(-1)?.id ?? after, more: true } };
    if (end !== undefined) return { rows, cursor: { after: idBefore(end), more: true } };
    return { rows, cursor: { after: rows.at(-1)?.id ?? after, more: false } };
  }
  return await readPage(page, 'until or after', source);
}

/**
 * @param instead the parameters that reach the rows beyond them
 * @throws Problem 400 for a page beyond the counted rows
 */
export async function readPage<Row>(page: Page, instead: string, { list, count, endOf }: Source<Row>) {
  const reachable = MAX_COUNTED_ROWS - page.offset;
  if (reachable <= 0) {
    const message = `must not reach beyond the first ${MAX_COUNTED_ROWS.toLocaleString('en-US')}; use ${instead}`;
    throw invalid([{ path: 'page', message }]);
  }
  const afterId = await endOf?.(page);
  const [rows, totalCount] = await Promise.all([
    list({ ...page, limit: Math.min(page.limit, reachable), afterId }),
    count(afterId),
  ]);
  return { rows, pagination: paginationOf(page, totalCount) };
}
