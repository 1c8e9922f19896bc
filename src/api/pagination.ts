/** Paging of lists: `page` from 1 (default 1), `items` 1–100 (default 30). */
import * as v from 'valibot';
import { wholeNumber } from '../domain/fields.ts';
import { MAX_FULL_RECORDS, MAX_LIST_BYTES } from '../domain/record-size.ts';

const wholeFrom = (least: number) => v.pipe(wholeNumber(), v.minValue(least));

export const Pagination = v.object({
  page: wholeFrom(1),
  items: v.pipe(wholeFrom(1), v.maxValue(100)),
  totalCount: wholeFrom(0),
  totalPages: wholeFrom(0),
});
export type Pagination = v.InferOutput<typeof Pagination>;

export interface Page {
  readonly page: number;
  readonly limit: number;
  readonly offset: number;
}

function numberText(max: number, jsonSchema: Record<string, unknown>) {
  const message = `must be a whole number from 1 to ${max}`;
  return v.pipe(
    v.string(message),
    v.regex(/^\d{1,9}$/, message),
    v.metadata({ jsonSchema: { type: 'integer', minimum: 1, maximum: max, ...jsonSchema } }),
    v.transform(Number),
    v.minValue(1, message),
    v.maxValue(max, message),
  );
}

/** The highest page number: keeps `offset` within the range of Postgres. */
const MAX_PAGE = 10_000_000;

/**
 * The query parameters of every list.
 * @example query({ ...pageQuery, status: v.optional(v.picklist(orderStatuses)) })
 */
export const pageQuery = {
  page: v.optional(numberText(MAX_PAGE, { default: 1, description: 'Page number, from 1.', examples: [1] })),
  items: v.optional(
    numberText(100, {
      default: 30,
      description: `Items per page, 1 to 100. A page of more than ${MAX_LIST_BYTES / 1024 / 1024} MiB as JSON is refused with 400; ${MAX_FULL_RECORDS} items always fit.`,
      examples: [30],
    }),
  ),
};

/** The rows for the two parameters, with the defaults filled in. */
export function pageOf(query: v.InferOutput<v.ObjectSchema<typeof pageQuery, undefined>>): Page {
  const page = query.page ?? 1;
  const limit = query.items ?? 30;
  return { page, limit, offset: (page - 1) * limit };
}

export function paginationOf({ page, limit }: Page, totalCount: number): Pagination {
  return { page, items: limit, totalCount, totalPages: Math.ceil(totalCount / limit) };
}
