/** Webhooks as records: list, create, read, replace and delete (docs/interface.md, W1). */
import type { Hono } from 'hono';
import * as v from 'valibot';
import { readContract } from '../../db/accounts/eshops.ts';
import { ensureSigningKey } from '../../db/accounts/signing-keys.ts';
import type { Database } from '../../db/transaction.ts';
import { deleteWebhook, replaceWebhook } from '../../db/webhooks/change.ts';
import { createWebhook } from '../../db/webhooks/create.ts';
import { countWebhooks, findWebhook, listWebhooks, type WebhookRow } from '../../db/webhooks/webhooks.ts';
import { type Contract, contractOf, contractProblems } from '../../domain/contract.ts';
import { badRequest, invalid, orNotFound, recordNotFound } from '../../domain/problem.ts';
import { headersOrNull, replacedHeaders } from '../../domain/static-headers.ts';
import { counted } from '../../domain/text.ts';
import {
  type WebhookSettings,
  webhookCreationSchema,
  webhookInputSchema,
  webhookRecordSchema,
  webhookResponseOnly,
  webhookWithSecretSchema,
  withDefaults,
} from '../../domain/webhook.ts';
import { omissible } from '../../domain/webhook-fields.ts';
import { typeRules } from '../../domain/webhook-rules.ts';
import { newWebhookSecret } from '../../secrets/keys.ts';
import { newSealedPair } from '../../secrets/signing-keys.ts';
import { openHeaders, sealHeaders, sealing } from '../../secrets/static-headers.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { idempotent } from '../idempotency.ts';
import { pageOf, pageQuery, paginationOf } from '../pagination.ts';
import { body, params, query } from '../validate.ts';
import { noSuchWebhook, recordOf, tag, webhookId } from './record.ts';

/** Only regeneration replaces a secret. */
const ignoredInPut = { responseOnly: [...webhookResponseOnly, 'secret'] };

export function webhookRoutes(app: Hono<ApiEnv>, deps: ApiDeps): void {
  const { sql, keys, policy } = deps;
  const recordFor = (row: WebhookRow) => recordOf(policy, row);

  async function contract(from: Database, eshopId: number): Promise<Contract> {
    return contractOf(await readContract(from, eshopId));
  }

  /**
   * Checks beyond the schema: the e-shop's contract, and where webhooks may lead.
   * @param before the URL that is replaced
   */
  async function checkInput(from: Database, eshopId: number, input: WebhookSettings, before?: string) {
    const found = await contract(from, eshopId);
    const destination = deps.destinationProblem(input.url, before);
    const problems = [
      ...(destination === null ? [] : [{ path: 'url', message: destination }]),
      ...contractProblems(found, input),
    ];
    if (problems.length > 0) throw invalid(problems);
    return found;
  }

  app.get(
    '/webhooks',
    describeOperation(tag, {
      id: 'listWebhooks',
      summary: 'List webhooks',
      description:
        'Ordered by id. Returns all webhooks, without `pagination`, unless `page` or `items` is given.',
      data: webhookRecordSchema,
      list: 'optional',
      message: 'Webhooks found.',
    }),
    query(pageQuery),
    async (c) => {
      const { eshopId } = c.get('session');
      const query = c.req.valid('query');
      if (query.page === undefined && query.items === undefined) {
        return ok(c, 'Webhooks found.', (await listWebhooks(sql, eshopId, null)).map(recordFor));
      }
      const page = pageOf(query);
      const [rows, count] = await Promise.all([
        listWebhooks(sql, eshopId, page),
        countWebhooks(sql, eshopId),
      ]);
      return ok(c, 'Webhooks found.', rows.map(recordFor), { pagination: paginationOf(page, count) });
    },
  );

  app.post(
    '/webhooks',
    describeOperation(tag, {
      id: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'The response contains the `secret`, which is never returned again: your own, if the body has one, so that a receiver need not change. Several webhooks may have the same type. The contract of ' +
        'the e-shop may limit the types, the payload versions, packing lists and the number of webhooks (100 unless agreed otherwise); anything that it does not allow returns a 400 that says so.',
      data: webhookWithSecretSchema,
      message: 'Webhook created.',
      errors: { 400: 'failed validation, or something that the contract does not allow.' },
    }),
    body(webhookCreationSchema, { responseOnly: webhookResponseOnly, rules: async () => typeRules([]) }),
    idempotent(deps),
    async (c) => {
      const { eshopId } = c.get('session');
      const { secret: given, headers: sent, ...input } = c.req.valid('json');
      const headers = headersOrNull(sent);
      const connection = c.get('sql') ?? sql;
      const { maxWebhooks } = await checkInput(connection, eshopId, withDefaults(input));
      if (input.asymmetric === true)
        await ensureSigningKey(connection, eshopId, () => newSealedPair(keys, eshopId));
      const secret = given ?? newWebhookSecret();
      const seal = sealing(keys, eshopId, { secret, headers });
      const row = await createWebhook(connection, eshopId, input, seal, maxWebhooks);
      if (row === null) throw badRequest(`The contract allows at most ${counted(maxWebhooks, 'webhook')}.`);
      return ok(c, 'Webhook created.', { ...recordFor(row), secret });
    },
  );

  app.get(
    '/webhooks/:id',
    describeOperation(tag, {
      id: 'getWebhook',
      summary: 'Read a webhook',
      data: webhookRecordSchema,
      message: 'Webhook found.',
      errors: { 404: noSuchWebhook },
    }),
    params({ id: webhookId }),
    async (c) => {
      const { id } = c.req.valid('param');
      const row = orNotFound('webhook', id, await findWebhook(sql, c.get('session').eshopId, id));
      return ok(c, 'Webhook found.', recordFor(row));
    },
  );

  app.put(
    '/webhooks/:id',
    describeOperation(tag, {
      id: 'replaceWebhook',
      summary: 'Replace a webhook',
      description:
        `Replaces all fields; those left out get their defaults, except ${omissible.map((field) => `\`${field}\``).join(', ')}, which then stay. Changing \`active\` has the same effect as activate and ` +
        'deactivate. Open deliveries keep the type of their event, and take everything else from the webhook as it is at their next attempt. ' +
        'Another URL brings it forward as an activation does. Failures of an earlier URL do not count against a new one.',
      data: webhookRecordSchema,
      message: 'Webhook updated.',
      errors: {
        400: 'failed validation, or something that the contract does not allow.',
        404: noSuchWebhook,
      },
    }),
    params({ id: webhookId }),
    body(webhookInputSchema, {
      ...ignoredInPut,
      async rules(c) {
        const before = await findWebhook(sql, c.get('session').eshopId, Number(c.req.param('id')));
        return typeRules(before?.additionalTypes ?? []);
      },
    }),
    async (c) => {
      const { eshopId } = c.get('session');
      const { id } = c.req.valid('param');
      const { headers: sent, ...input } = c.req.valid('json');
      const owner = { eshopId, webhookId: id };
      const active = c.env?.keepsActive === true ? null : input.active;
      const row = await replaceWebhook(sql, eshopId, id, { ...input, active }, async (tx, before) => {
        await checkInput(tx, eshopId, withDefaults(input, before), before.url);
        if (input.asymmetric === true)
          await ensureSigningKey(tx, eshopId, () => newSealedPair(keys, eshopId));
        const { url, headers: sealed } = before;
        const open = sealed === null ? null : () => openHeaders(keys, sealed, owner);
        const headers = replacedHeaders(sent, input.url, { url, open });
        return headers === undefined ? undefined : sealHeaders(keys, headers, owner);
      });
      return ok(c, 'Webhook updated.', recordFor(orNotFound('webhook', id, row)));
    },
  );

  app.delete(
    '/webhooks/:id',
    describeOperation(tag, {
      id: 'deleteWebhook',
      summary: 'Delete a webhook',
      description:
        'The webhook and its deliveries are no longer available through the interface; open deliveries are canceled. Returns 400 if the contract does not allow deleting webhooks.',
      data: v.pipe(v.string(), v.examples(['Webhook 7 deleted.'])),
      message: 'Webhook deleted.',
      errors: { 400: 'the contract does not allow deleting webhooks.', 404: noSuchWebhook },
    }),
    params({ id: webhookId }),
    async (c) => {
      const { eshopId } = c.get('session');
      const { id } = c.req.valid('param');
      orNotFound('webhook', id, await findWebhook(sql, eshopId, id));
      if (!(await contract(sql, eshopId)).deleteWebhooks) {
        throw badRequest('Your contract does not allow deleting webhooks; deactivate this one instead.');
      }
      if (!(await deleteWebhook(sql, eshopId, id))) throw recordNotFound('webhook', id);
      return ok(c, 'Webhook deleted.', `Webhook ${id} deleted.`);
    },
  );
}
