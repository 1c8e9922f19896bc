/** The list and the detail of a kind of record, in the form of a version. */
import type { Hono } from 'hono';
import * as v from 'valibot';
import { listRecords, readRecord } from '../../db/records/read.ts';
import type { TableMapping } from '../../db/records/table-mapping.ts';
import type { CatalogueEntry } from '../../domain/catalogue.ts';
import type { PayloadVersion } from '../../domain/decimal.ts';
import { described, identifier } from '../../domain/fields.ts';
import { orNotFound } from '../../domain/problem.ts';
import { type RenderOptions, render, renderValue } from '../../domain/render.ts';
import { article, capital } from '../../domain/text.ts';
import { timestamp } from '../../domain/timestamp.ts';
import { type Allowance, chargeTime } from '../budget/allowance.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation, inVersion } from '../describe.ts';
import { ok, okText } from '../envelope.ts';
import { pageOf, pageQuery, paginationOf } from '../pagination.ts';
import { booleanText, params, query } from '../validate.ts';

export interface ListedResource {
  readonly mapping: TableMapping<object>;
  /** The rest of the description of the list, in Markdown. */
  readonly listed: string;
  /** The query parameters that filter the list (see `ListFilter`). */
  readonly filter: v.ObjectEntries;
  /** The path parameter, if it is not an identifier chosen by the e-shop. */
  readonly id?: v.GenericSchema<string, string | number>;
  /** The effect of `withPackingLists` on the detail, in Markdown; left out if there are no packing lists. */
  readonly packingLists?: string;
  recordSchema(version: PayloadVersion): v.GenericSchema;
}

export const timeFilter = {
  createdSince: v.optional(timestamp()),
  updatedSince: v.optional(timestamp()),
};

/** The path parameter of one record: percent-encoded in the path, any characters. */
export function idParams({ noun, idField }: CatalogueEntry) {
  return { id: described(identifier(), `The \`${idField}\` of the ${noun}.`) };
}

/**
 * The JSON texts of records, in slices: a hundred large records at once, or many such lists, would block the
 * process.
 */
async function rendered(
  records: readonly object[],
  options: RenderOptions,
  allowance: Allowance | undefined,
) {
  const texts: string[] = [];
  for (const record of records) {
    await allowance?.slice();
    texts.push(chargeTime(allowance, () => render(record, options)));
  }
  return texts;
}

export function recordReads(
  app: Hono<ApiEnv>,
  deps: ApiDeps,
  version: PayloadVersion,
  resource: ListedResource,
): void {
  const { mapping, listed, filter, packingLists } = resource;
  const { entry } = mapping;
  const { kind, noun, path } = entry;
  const tag = `${capital(noun)}s`;
  const data = resource.recordSchema(version);
  const [foundAll, found] = [`${tag} found.`, `${capital(noun)} found.`];

  app.get(
    path,
    describeOperation(tag, {
      id: inVersion(`list${capital(kind)}s`, version),
      summary: `List ${tag.toLowerCase()}`,
      description: `Oldest first${listed}`,
      data,
      list: true,
      message: foundAll,
    }),
    query({ ...pageQuery, ...filter }),
    async (c) => {
      const { page: number, items, ...asked } = c.req.valid('query');
      const page = pageOf({ page: number, items });
      const { eshopId } = c.get('session');
      const { records, totalCount } = await listRecords(deps.sql, mapping, eshopId, asked, page);
      const renderings = await rendered(records, { version, withPackingLists: false }, c.get('allowance'));
      return okText(c, foundAll, `[${renderings.join(',')}]`, { pagination: paginationOf(page, totalCount) });
    },
  );

  const flags = packingLists === undefined ? {} : { withPackingLists: v.optional(booleanText) };
  app.get(
    `${path}/:id`,
    describeOperation(tag, {
      id: inVersion(`get${capital(kind)}`, version),
      summary: `Read ${article(noun)}`,
      ...(packingLists === undefined ? {} : { description: packingLists }),
      data,
      message: found,
      errors: { 404: `the ${noun} does not exist.` },
    }),
    params(resource.id === undefined ? idParams(entry) : { id: resource.id }),
    query(flags),
    async (c) => {
      const { id } = c.req.valid('param');
      const record = orNotFound(noun, id, await readRecord(deps.sql, mapping, c.get('session').eshopId, id));
      const query = c.req.valid('query');
      const withPackingLists = 'withPackingLists' in query && query.withPackingLists === true;
      const options = { version, withPackingLists };
      const rendering = chargeTime(c.get('allowance'), () => renderValue(record, options));
      return ok(c, found, rendering);
    },
  );
}
