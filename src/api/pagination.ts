/** Paging of lists: `page` from 1 (default 1), `items` 1–100 (default 30). */
import * as v from 'valibot';
import { ITEMS_THAT_FIT, MAX_LIST_BYTES } from '../domain/record-size.ts';

export const Pagination = v.object({
  page: v.number(),
  items: v.number(),
  totalCount: v.number(),
  totalPages: v.number(),
});
export type Pagination = v.InferOutput<typeof Pagination>;

export interface Page {
  readonly page: number;
  readonly items: number;
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
      description: `Items per page, 1 to 100. A page of more than ${MAX_LIST_BYTES / 1024 / 1024} MiB as JSON is refused with 400; ${ITEMS_THAT_FIT} items always fit.`,
      examples: [30],
    }),
  ),
};

/** The rows for the two parameters, with the defaults filled in. */
export function pageOf(query: {
  readonly page?: number | undefined;
  readonly items?: number | undefined;
}): Page {
  const page = query.page ?? 1;
  const items = query.items ?? 30;
  return { page, items, limit: items, offset: (page - 1) * items };
}

export function paginationOf({ page, items }: Page, totalCount: number): Pagination {
  return { page, items, totalCount, totalPages: Math.ceil(totalCount / items) };
}
