/**
 * What receivings and returns have in common: an e-shop announces them, the warehouse moves them on and counts their
 * lines. The routes of both, made from one description each (`receivings.ts`, `returns.ts`).
 * @module
 */
import { Hono } from 'hono';
import * as v from 'valibot';
import type { Pool } from '../db/pool.ts';
import { knownSkus } from '../db/records/products.ts';
import type { StatusFilter } from '../db/records/status-list.ts';
import type { Listed } from '../db/records/written.ts';
import type { CatalogueEntry } from '../domain/catalogue.ts';
import type { PayloadVersion } from '../domain/decimal.ts';
import { eventOn, type Occasion } from '../domain/event-types.ts';
import { identifier, oneOf } from '../domain/fields.ts';
import { notFound } from '../domain/problem.ts';
import { renderValue } from '../domain/render.ts';
import { timestamp } from '../domain/timestamp.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describe } from './describe.ts';
import { ok } from './envelope.ts';
import { type Page, pageOf, pageQuery, paginationOf } from './pagination.ts';
import { rawBody } from './raw-body.ts';
import { body, params, query } from './validate.ts';

/** What a body's rules know beside it: which of its SKUs are products of the e-shop. */
export interface AnnouncementContext {
  readonly now: Date;
  readonly knownSkus: ReadonlySet<string>;
}

/** One of the two resources. */
export interface Announcement<Status extends string, Rec extends object> {
  readonly entry: CatalogueEntry;
  /** Its group in the documentation, such as "Receivings". */
  readonly tag: string;
  readonly statuses: readonly [Status, ...Status[]];
  readonly inputSchema: v.GenericSchema<unknown, object>;
  /** Rules of the body that the schema cannot say, in Markdown. */
  readonly rules: string;
  /** What the e-shop may still change once the thing has arrived. */
  readonly changeable: readonly string[];
  /** Until when the e-shop can cancel, as a clause. */
  readonly cancelable: string;
  skusIn(body: unknown): string[];

  make(body: unknown, context: AnnouncementContext): Rec;
  replace(record: Rec, body: unknown, context: AnnouncementContext): Rec;
  patch(record: Rec, body: unknown, context: AnnouncementContext): Rec;
  cancel(record: Rec, now: Date): Rec;

  list(sql: Pool, eshopId: number, filter: StatusFilter<Status>, page: Page): Promise<Listed<Rec>>;
  read(sql: Pool, eshopId: number, id: string): Promise<Rec | null>;
  create(sql: Pool, eshopId: number, record: Rec): Promise<Rec>;
  update(sql: Pool, eshopId: number, id: string, change: (before: Rec, now: Date) => Rec): Promise<Rec>;
}

const idParams = { id: identifier() };
const capital = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** The list and the detail, in the form of the version. */
export function announcementReads<const Status extends string, Rec extends object>(
  deps: ApiDeps,
  version: PayloadVersion,
  { entry, tag, statuses, list, read }: Announcement<Status, Rec>,
): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const { noun, path } = entry;
  const data = entry.recordSchema(version);
  const shown = (record: object) => renderValue(record, { version, withPackingLists: false });
  const [foundAll, found] = [`${tag} found.`, `${capital(noun)} found.`];

  app.get(
    path,
    describe({
      summary: `List ${tag.toLowerCase()}`,
      description: 'Oldest first.',
      tag,
      data,
      list: true,
      message: foundAll,
    }),
    query({
      ...pageQuery,
      status: v.optional(oneOf(statuses)),
      createdSince: v.optional(timestamp()),
      updatedSince: v.optional(timestamp()),
    }),
    async (c) => {
      const { page: _page, items: _items, ...filter } = c.req.valid('query');
      const page = pageOf(c.req.valid('query'));
      const { records, totalCount } = await list(deps.sql, c.var.session.eshopId, filter, page);
      return ok(c, foundAll, records.map(shown), paginationOf(page, totalCount));
    },
  );

  app.get(
    `${path}/:id`,
    describe({ summary: `Read a ${noun}`, tag, data, message: found, errors: { 404: `no such ${noun}.` } }),
    params(idParams),
    query({}),
    async (c) => {
      const { id } = c.req.valid('param');
      const record = await read(deps.sql, c.var.session.eshopId, id);
      if (record === null) throw notFound(`There is no ${noun} ${id}.`);
      return ok(c, found, shown(record));
    },
  );
  return app;
}

/** The reads and the e-shop's writes of `/v21`. */
export function announcementRoutes<const Status extends string, Rec extends object>(
  deps: ApiDeps,
  announcement: Announcement<Status, Rec>,
): Hono<ApiEnv> {
  const { entry, tag, inputSchema, rules, changeable, cancelable } = announcement;
  const { noun, path, idField, responseOnly } = entry;
  const fires = (on: Occasion) => `Fires ${eventOn(entry.kind, on)}`;
  const app = new Hono<ApiEnv>();
  app.route('/', announcementReads(deps, 'v21', announcement));
  const data = entry.recordSchema('v21');
  const late = `Once it has arrived only ${changeable.map((field) => `\`${field}\``).join(', ')} can be changed (else 409).`;
  const messages = { created: `${capital(noun)} created.`, updated: `${capital(noun)} updated.` };

  const contextOf = async (eshopId: number, sent: unknown): Promise<AnnouncementContext> => ({
    now: new Date(),
    knownSkus: await knownSkus(deps.sql, eshopId, announcement.skusIn(sent)),
  });
  const answer = (record: Rec) => renderValue(record, { version: 'v21', withPackingLists: false });

  app.post(
    path,
    describe({
      summary: `Announce a ${noun}`,
      description: `${fires('created')}.\n${rules}`,
      tag,
      data,
      message: messages.created,
      errors: { 409: `a ${noun} of this identifier exists already.` },
    }),
    rawBody(inputSchema, { responseOnly }),
    async (c) => {
      const { eshopId } = c.var.session;
      const sent = c.req.valid('json');
      const record = announcement.make(sent, await contextOf(eshopId, sent));
      return ok(c, messages.created, answer(await announcement.create(deps.sql, eshopId, record)));
    },
  );

  const updates = [
    {
      method: 'put',
      summary: `Replace a ${noun}`,
      how: 'What is left out becomes `null` or its default.',
      optional: [idField],
      change: announcement.replace,
    },
    {
      method: 'patch',
      summary: `Change fields of a ${noun}`,
      how: 'Only the fields sent are changed, lists as a whole.',
      optional: 'all',
      change: announcement.patch,
    },
  ] as const;
  for (const { method, summary, how, optional, change } of updates) {
    app[method](
      `${path}/:id`,
      describe({
        summary,
        description: `${how} ${late} ${fires('updated')}, and nothing when nothing changed.\n${rules}`,
        tag,
        data,
        message: messages.updated,
        errors: { 404: `no such ${noun}.`, 409: 'it has arrived: too late for this change.' },
      }),
      params(idParams),
      rawBody(inputSchema, { responseOnly, optional }),
      async (c) => {
        const { eshopId } = c.var.session;
        const { id } = c.req.valid('param');
        const sent = c.req.valid('json');
        const context = await contextOf(eshopId, sent);
        const written = await announcement.update(deps.sql, eshopId, id, (record, now) =>
          change(record, sent, { ...context, now }),
        );
        return ok(c, messages.updated, answer(written));
      },
    );
  }

  app.post(
    `${path}/:id/cancel`,
    describe({
      summary: `Cancel a ${noun}`,
      description: `Possible ${cancelable}. ${fires('statusChanged')}. No body.`,
      tag,
      data,
      message: `${capital(noun)} canceled.`,
      errors: { 404: `no such ${noun}.`, 409: 'it can no longer be canceled.' },
    }),
    params(idParams),
    async (c) => {
      const { id } = c.req.valid('param');
      const { eshopId } = c.var.session;
      const written = await announcement.update(deps.sql, eshopId, id, announcement.cancel);
      return ok(c, `${capital(noun)} canceled.`, answer(written));
    },
  );
  return app;
}

/** What the warehouse does to one of the two. */
export interface WarehouseOperation<Rec, Body extends v.GenericSchema<unknown, object>> {
  /** Below `/warehouse/<resource>/:id/`. */
  readonly name: 'status' | 'lines';
  readonly summary: string;
  readonly description: string;
  readonly conflict: string;
  readonly message: string;
  readonly body: Body;
  change(record: Rec, input: v.InferOutput<Body>, now: Date): Rec;
}

/** Makes the route of an operation: PUT, for the role `warehouse`. */
export function warehouseRoute<
  const Status extends string,
  Rec extends object,
  Body extends v.GenericSchema<unknown, object>,
>(
  deps: ApiDeps,
  { entry, update }: Announcement<Status, Rec>,
  operation: WarehouseOperation<Rec, Body>,
): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const { name, summary, description, conflict, message } = operation;
  app.put(
    `/warehouse${entry.path}/:id/${name}`,
    describe({
      summary,
      description,
      tag: 'Warehouse',
      data: entry.recordSchema('v21'),
      message,
      errors: { 404: `no such ${entry.noun}.`, 409: conflict },
    }),
    params(idParams),
    body(operation.body),
    async (c) => {
      const { id } = c.req.valid('param');
      const input = c.req.valid('json');
      const record = await update(deps.sql, c.var.session.eshopId, id, (before, now) =>
        operation.change(before, input, now),
      );
      return ok(c, message, renderValue(record, { version: 'v21', withPackingLists: false }));
    },
  );
  return app;
}
