/** Webhooks from another system, imported one by one (docs/interface.md, W19). */
import * as v from 'valibot';
import { readContract } from '../../db/accounts/eshops.ts';
import { ensureSigningKey } from '../../db/accounts/signing-keys.ts';
import type { Pool } from '../../db/connection/pool.ts';
import { importWebhook } from '../../db/webhooks/create.ts';
import { countWebhooks, findDuplicate, isWebhookIdUsed } from '../../db/webhooks/webhooks.ts';
import { contractOf, contractProblems } from '../../domain/contract.ts';
import type { EventType } from '../../domain/event-types.ts';
import { badRequest, invalid } from '../../domain/problem.ts';
import { headersOrNull } from '../../domain/static-headers.ts';
import { counted } from '../../domain/text.ts';
import { omitFields, validate } from '../../domain/validation.ts';
import { webhookCreationSchema, withDefaults } from '../../domain/webhook.ts';
import { typeRules } from '../../domain/webhook-rules.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { type Keys, newWebhookSecret } from '../../secrets/keys.ts';
import { newSealedPair } from '../../secrets/signing-keys.ts';
import { sealing } from '../../secrets/static-headers.ts';
import { fieldOf, lineFields, textFieldOf, urlOf } from './problem.ts';
import type { Outcome } from './run-import.ts';

/** The maximum keeps ids generated later within the numbers that commands accept. */
const MAX_ID = 900_000_000;

const number = (max: number, message: string) =>
  v.nullish(
    v.pipe(
      v.number(message),
      v.check((given) => Number.isInteger(given) && given >= 1 && given <= max, message),
    ),
  );

const placeSchema = v.object({
  eshop: number(999_999_999, 'must be the number of an e-shop'),
  id: number(MAX_ID, `must be an integer from 1 to ${MAX_ID}`),
});

export const lineEntries = { ...placeSchema.entries, ...webhookCreationSchema.entries };

/** The outcome of a line, also in a dry run. */
interface ImportResult {
  readonly outcome: Outcome;
  readonly eshop: number | null;
  /** The id of the webhook; null if there is none, or if it is known only after creation. */
  readonly id: number | null;
  readonly url: string | null;
  /** If the line was refused, the type as written there. */
  readonly webhookType: string | null;
  /** Empty if none, or if the line was refused. */
  readonly additionalTypes: readonly EventType[];
  readonly method: string | null;
  /** A generated secret, shown once. */
  readonly secret?: string;
  /** The reason, or a remark. */
  readonly note: string | null;
}

interface WebhookImportDeps {
  readonly sql: Pool;
  readonly keys: Keys;
  readonly destinationProblem: (url: string) => string | null;
  /** The e-shop of all lines; undefined: each names its own. */
  readonly eshop: number | undefined;
  /** Whether all are imported inactive, whatever their lines say: nothing is sent until each is activated. */
  readonly inactive: boolean;
  readonly dryRun: boolean;
}

/** Makes a function that imports one value after the other, and throws a Problem if one is refused. */
export function webhookImport(deps: WebhookImportDeps): (value: unknown) => Promise<ImportResult> {
  const { sql, keys, dryRun } = deps;
  /** The webhooks that a dry run would have created: their number per e-shop, their keys, their ids. */
  const planned = { counts: new Map<number, number>(), webhooks: new Set<string>(), ids: new Set<number>() };

  return async (value) => {
    const fields = lineFields(value);
    const place = validate(placeSchema, fields);
    const eshop = place.eshop ?? deps.eshop;
    const id = place.id ?? undefined;
    if (eshop === undefined) throw badRequest('eshop: is missing; name it here or with --eshop');
    // The file may come from an e-shop: it must not subscribe to another's events.
    if (deps.eshop !== undefined && eshop !== deps.eshop)
      throw badRequest(`eshop: is ${eshop}, but with --eshop ${deps.eshop} all lines are for that one`);
    const {
      secret: own,
      headers: sent,
      ...given
    } = validate(webhookCreationSchema, omitFields(fields, ['eshop', 'id']), {
      rules: typeRules([]),
      before: null,
      context: null,
    });
    const input = withDefaults(deps.inactive ? { ...given, active: false } : given);
    const stored = await readContract(sql, eshop);
    if (stored === null) throw badRequest(`eshop: there is no e-shop ${eshop}`);
    const contract = contractOf(stored);
    const { url, webhookType, additionalTypes, method } = input;
    const shown = { eshop, url, webhookType, additionalTypes, method };
    const existing = await findDuplicate(sql, eshop, input);
    const duplicateKeys = typesOf(input).map((type) => JSON.stringify([eshop, url, type, method]));
    const skipped = (there: number): ImportResult => ({
      outcome: 'skipped',
      ...shown,
      id: there,
      note: `webhook ${there} exists already`,
    });
    if (existing !== null) return skipped(existing);
    if (duplicateKeys.some((key) => planned.webhooks.has(key)))
      return { outcome: 'skipped', ...shown, id: null, note: 'an earlier line is the same webhook' };
    const headers = headersOrNull(sent);
    const destination = deps.destinationProblem(url);
    const problems = [
      ...contractProblems(contract, input),
      ...(destination === null ? [] : [{ path: 'url', message: destination }]),
    ];
    if (problems.length > 0) throw invalid(problems);
    const used = id !== undefined && (planned.ids.has(id) || (await isWebhookIdUsed(sql, id)));
    const requestedId = used ? undefined : id;
    const full = badRequest(`The contract allows at most ${counted(contract.maxWebhooks, 'webhook')}.`);
    const renumbered = used ? `the number ${id} has been used: the webhook gets another` : null;
    if (dryRun) {
      const count = planned.counts.get(eshop) ?? (await countWebhooks(sql, eshop));
      if (count >= contract.maxWebhooks) throw full;
      planned.counts.set(eshop, count + 1);
      for (const key of duplicateKeys) planned.webhooks.add(key);
      if (requestedId !== undefined) planned.ids.add(requestedId);
      return { outcome: 'created', ...shown, id: requestedId ?? null, note: renumbered };
    }
    if (input.asymmetric) await ensureSigningKey(sql, eshop, () => newSealedPair(keys, eshop));
    const secret = own ?? newWebhookSecret();
    const seal = sealing(keys, eshop, { secret, headers });
    const created = await importWebhook(sql, eshop, input, seal, contract.maxWebhooks, requestedId ?? null);
    if (created === null) throw full;
    if ('existing' in created) return skipped(created.existing);
    return {
      outcome: 'created',
      ...shown,
      id: created.id,
      ...(own === null ? { secret } : {}),
      note: renumbered,
    };
  };
}

/** The result of a refused line, without its secrets. */
export function refusedWebhook(value: unknown, note: string, outcome: 'refused' | 'unmapped'): ImportResult {
  const eshop = fieldOf(value, 'eshop');
  return {
    outcome,
    eshop: typeof eshop === 'number' ? eshop : null,
    id: null,
    url: urlOf(value),
    webhookType: textFieldOf(value, 'webhookType'),
    additionalTypes: [],
    method: textFieldOf(value, 'method'),
    note,
  };
}
