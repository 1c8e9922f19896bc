/**
 * The routes of a kind of record, made from one description each (`orders.ts`, `products.ts`, `receivings.ts`,
 * `returns.ts`).
 */
import type { Context, Hono } from 'hono';
import type * as v from 'valibot';
import type { Clock } from '../../db/clock.ts';
import type { EntityMapping } from '../../db/records/entity-mapping.ts';
import { createInserter } from '../../db/records/insert.ts';
import { type Change, changeRecord, create } from '../../db/records/write.ts';
import { type Database, transaction } from '../../db/transaction.ts';
import type { Edits, WriteContext } from '../../domain/editing.ts';
import { eventOn } from '../../domain/event-types.ts';
import { renderValue } from '../../domain/render.ts';
import { article, capital } from '../../domain/text.ts';
import { chargeTime } from '../budget/allowance.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { type Action, describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { idempotent } from '../idempotency.ts';
import { jsonBody } from '../json-body.ts';
import { params } from '../validate.ts';
import type { ChangeLoops } from './change-loops.ts';
import { withKnownSkus } from './known-skus.ts';
import { type ChangeOf, inCapitals, type Operation } from './operation.ts';
import { idParams, type ListedResource, recordReads } from './reads.ts';

/** A kind of record that e-shops write. Texts are sentences in Markdown. */
export interface Resource<Rec extends object> extends ListedResource, Edits<Rec, WriteContext> {
  readonly mapping: EntityMapping<Rec>;
  readonly inputSchema: v.GenericSchema<unknown, object>;
  readonly creates: 'Create' | 'Announce';
  /** Added to the description of the creation only. */
  readonly onCreation?: string;
  /** The fields that can no longer be changed later, and when; with `tooLate`, the text for the 409. */
  readonly late?: string;
  readonly tooLate?: string;
  /** Rules of the body beyond the schema. */
  readonly rules?: string;
  readonly actions: readonly ChangeOf<Rec>[];
  readonly operations: readonly Operation<Rec>[];
}

/** @param loops those of all kinds of record */
export function resourceRoutes<Rec extends object>(
  app: Hono<ApiEnv>,
  deps: ApiDeps,
  resource: Resource<Rec>,
  loops: ChangeLoops,
): void {
  const { mapping, inputSchema, late = '', onCreation = '' } = resource;
  const rules = resource.rules === undefined ? '' : `\n${resource.rules}`;
  const { entry } = mapping;
  const { kind, noun, path, idField, responseOnly } = entry;
  const tag = `${capital(noun)}s`;
  const itemPath = `${path}/:id`;
  const named = article(noun);
  const data = resource.recordSchema('v21');
  const described = (group: string, id: string, action: Action) => {
    const errors = { 404: `the ${noun} does not exist.`, 409: action.conflict };
    return describeOperation(group, { ...action, id, data, errors });
  };
  const once = idempotent(deps, {
    schema: inputSchema,
    responseOnly,
    record: (body) => ({ kind, entityId: String(Reflect.get(body, idField)) }),
  });
  const messages = {
    created: `${capital(noun)} created.`,
    updated: `${capital(noun)} updated.`,
    unchanged: `${capital(noun)} unchanged.`,
  };
  const insert = createInserter(deps.sql);
  recordReads(app, deps, 'v21', resource);

  /** Writes with the context that the rules need. */
  const writing = <T>(
    { sql, eshopId, clock }: { readonly sql: Database; readonly eshopId: number; readonly clock: Clock },
    body: unknown,
    write: (context: WriteContext) => Promise<T>,
  ): Promise<T> => {
    const { shipperCatalogue, marketplaces } = deps;
    return withKnownSkus(sql, eshopId, resource.skusIn(body), (knownSkus) =>
      write({ now: clock.now(), knownSkus, shipperCatalogue, marketplaces }),
    );
  };
  const rendered = (c: Context<ApiEnv>, record: Rec, withPackingLists = false) =>
    chargeTime(c.get('allowance'), () => renderValue(record, { version: 'v21', withPackingLists }));
  /** Changes a record and answers with it, with `message` unless nothing was changed. */
  const change = async (
    c: Context<ApiEnv>,
    id: string,
    message: string,
    by: Change<Rec>,
    withPackingLists = false,
  ) => {
    const { eshopId, role } = c.get('session');
    let before: Rec | undefined;
    const after = await transaction(deps.sql, (tx) =>
      changeRecord(tx, mapping, eshopId, role, id, (record, now) => {
        before = record;
        return by(record, now);
      }),
    );
    const shown = rendered(c, after, withPackingLists);
    if (after === before) return ok(c, messages.unchanged, shown);
    const times = loops.changed(eshopId, kind, id);
    return ok(c, times === null ? message : `${message} ${loopWarning(times)}`, shown);
  };

  app.post(
    path,
    describeOperation(tag, {
      id: `create${capital(kind)}`,
      summary: `${resource.creates} ${named}`,
      description: `Fires ${eventOn(kind, 'created')}.${onCreation}${rules}`,
      data,
      message: messages.created,
      errors: { 409: `${named} with this \`${idField}\` already exists.` },
    }),
    jsonBody(inputSchema, { responseOnly, name: `${capital(kind)}Input` }),
    once,
    async (c) => {
      const { eshopId, role } = c.get('session');
      const sql = c.get('sql') ?? deps.sql;
      const body = c.req.valid('json');
      const created = await writing({ sql, eshopId, clock: c.get('clock') }, body, async (context) => {
        const record = chargeTime(c.get('allowance'), () => resource.make(body, context));
        return await create(sql, insert, mapping, eshopId, role, record);
      });
      return ok(c, messages.created, rendered(c, created));
    },
  );

  const wholeLists = mapping.lines === undefined ? '' : '; a list is replaced as a whole';
  const updates = [
    {
      method: 'put',
      verb: 'replace',
      name: `${capital(kind)}Replacement`,
      summary: `Replace ${named}`,
      how: 'Replaces all fields; those left out become `null` or get their defaults.',
      partial: false,
      apply: resource.replace,
    },
    {
      method: 'patch',
      verb: 'patch',
      name: `${capital(kind)}Patch`,
      summary: `Change fields of ${named}`,
      how: `Changes only the fields that are sent${wholeLists}.`,
      partial: true,
      apply: resource.patch,
    },
  ] as const;
  for (const { method, verb, name, summary, how, partial, apply } of updates) {
    const description = `${how}${late} Fires ${eventOn(kind, 'updated')}, unless nothing changed; the message then says so.${rules}`;
    const update = { name, summary, description, conflict: resource.tooLate, message: messages.updated };
    app[method](
      itemPath,
      described(tag, `${verb}${capital(kind)}`, update),
      params(idParams(entry)),
      jsonBody(inputSchema, { responseOnly, inPath: idField, partial, name }),
      async (c) => {
        const body = c.req.valid('json');
        const { id } = c.req.valid('param');
        const asked = { sql: deps.sql, eshopId: c.get('session').eshopId, clock: c.get('clock') };
        return await writing(asked, body, (context) =>
          change(c, id, messages.updated, (record, now) =>
            chargeTime(c.get('allowance'), () => apply(record, body, { ...context, now })),
          ),
        );
      },
    );
  }

  for (const action of resource.actions) {
    const { name, description, message } = action;
    app.post(
      `${itemPath}/${name}`,
      described(tag, `${name}${capital(kind)}`, { ...action, description: `${description} No body.` }),
      params(idParams(entry)),
      (c) => change(c, c.req.valid('param').id, message, action.change),
    );
  }

  for (const operation of resource.operations) {
    const { name, message, withPackingLists } = operation;
    app.put(
      `/warehouse${itemPath}/${name}`,
      described('Warehouse', `set${capital(kind)}${inCapitals(name)}`, operation),
      params(idParams(entry)),
      jsonBody(operation.body),
      async (c) => {
        const prepared = chargeTime(c.get('allowance'), () => operation.prepare(c.req.valid('json')));
        const by: Change<Rec> = (record, now) =>
          chargeTime(c.get('allowance'), () => prepared.change(record, now));
        return await change(c, c.req.valid('param').id, message, by, withPackingLists);
      },
    );
  }
}

/** For the client in the loop: nobody else sees this response. */
function loopWarning(times: number): string {
  return `It was changed ${times} times within a minute: a receiver that answers its own changes must compare before it writes; a webhook with skipOwn does not get them.`;
}
