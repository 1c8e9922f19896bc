/** Listens until interrupted, then removes its webhook; if it is killed, the next listener removes it. */
import { hostname } from 'node:os';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { configuredGuard } from '../app/outgoing.ts';
import { findEshop, readContract } from '../db/accounts/eshops.ts';
import type { Pool } from '../db/connection/pool.ts';
import { deleteWebhook } from '../db/webhooks/change.ts';
import { createWebhook } from '../db/webhooks/create.ts';
import { listWebhooks } from '../db/webhooks/webhooks.ts';
import { contractOf, contractProblems } from '../domain/contract.ts';
import { type EventType, eventTypeNames } from '../domain/event-types.ts';
import { counted } from '../domain/text.ts';
import { webhookInputSchema, withDefaults } from '../domain/webhook.ts';
import { typesOf } from '../domain/webhook-types.ts';
import { isAlive } from '../embedded/processes.ts';
import type { CommandContext } from '../lib/command-line.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';
import { aborted } from '../lib/wait-or-stop.ts';
import { type Keys, newWebhookSecret } from '../secrets/keys.ts';
import { sealing } from '../secrets/static-headers.ts';
import { pairs } from './layout.ts';
import type { ListenOptions } from './listen-options.ts';
import { type ReceivedRequest, startListening } from './listening-server.ts';
import { withDatabase } from './open-database.ts';
import { ownParts } from './own-parts.ts';

interface Listener {
  readonly url: string;
  readonly secret: string;
  readonly webhook: { readonly id: number; readonly types: readonly EventType[] };
}

/** The beginning of the description, by which the webhooks of a killed process are recognized. */
const PREFIX = `waybill listen on ${hostname()}, process `;

/** Removes the webhooks left behind by earlier listeners. @returns how many */
async function removeLeftovers(sql: Pool, eshopId: number): Promise<number> {
  let removed = 0;
  for (const { id, description } of await listWebhooks(sql, eshopId, null)) {
    if (description === null || !description.startsWith(PREFIX)) continue;
    if (await isAlive(Number(description.slice(PREFIX.length)))) continue;
    if (await deleteWebhook(sql, eshopId, id)) removed += 1;
  }
  return removed;
}

/** Registers one webhook for all types. @throws UserError with the reason if the contract does not allow it */
async function register(
  sql: Pool,
  keys: Keys,
  { eshop: eshopId, types, method, payloadVersion }: ListenOptions,
  { url, secret }: Pick<Listener, 'url' | 'secret'>,
): Promise<Listener['webhook']> {
  const contract = contractOf(await readContract(sql, eshopId));
  const [webhookType, ...additionalTypes] = types ?? contract.webhookTypes ?? eventTypeNames;
  if (webhookType === undefined)
    throw new UserError(`The contract of e-shop ${eshopId} allows no event type.`);
  const description = `${PREFIX}${process.pid}`;
  const given: v.InferInput<typeof webhookInputSchema> = {
    url,
    method,
    payloadVersion,
    webhookType,
    additionalTypes,
    active: true,
    description,
  };
  const input = withDefaults(v.parse(webhookInputSchema, given));
  const [problem] = contractProblems(contract, input);
  if (problem !== undefined) throw new UserError(`E-shop ${eshopId}: ${problem.message}.`);
  const seal = sealing(keys, eshopId, { secret });
  const row = await createWebhook(sql, eshopId, input, seal, contract.maxWebhooks);
  if (row === null) {
    throw new UserError(
      `The contract of e-shop ${eshopId} allows at most ${counted(contract.maxWebhooks, 'webhook')}: delete one first.`,
    );
  }
  return { id: row.id, types: typesOf(input) };
}

/** One line: time, delivery, response; then the body, if requested. */
function lines(
  { at, method, target, body, delivery, problem, status, tookMs }: ReceivedRequest,
  withBody: boolean,
) {
  const what =
    delivery === null
      ? `${method} ${target}  not verified`
      : `${delivery.kind} ${delivery.entityId ?? ''}  delivery ${delivery.id}, attempt ${delivery.attempt}${delivery.test ? ', test' : ''}  verified`;
  const line = `${at.toISOString().slice(11, 19)}  ${what}  ${status} after ${tookMs} ms`;
  return [problem === null ? line : `${line}: ${problem}`, ...(withBody && body !== '' ? [body] : [])].join(
    '\n',
  );
}

/** The webhook's URL. It has the path of the forwarding target, because the signature of a GET covers the path. */
function addressOf(port: number, forwardTo: string | undefined): string {
  const path = forwardTo === undefined ? '/' : forwardTo.replace(/^[a-z]+:\/\/[^/?]*/i, '');
  return `http://127.0.0.1:${port}${path.startsWith('/') ? path : `/${path}`}`;
}

/** The text before the first request. */
function beginning({ eshop: eshopId, json }: ListenOptions, { url, secret, webhook }: Listener): string {
  if (json) return JSON.stringify({ eshopId, url, secret, webhook });
  return pairs([
    ['Listening', url],
    ['Webhook', `${webhook.id}: ${webhook.types.join(', ')}`],
    ['Secret', secret],
    ['End', 'Ctrl-C, which removes the webhook'],
  ]);
}

/** Listens until Ctrl-C, the normal end. @throws UserError with the reason if it cannot */
export async function listen({ env, print }: CommandContext, options: ListenOptions): Promise<void> {
  const { eshop: eshopId, forwardTo } = options;
  const { config, own, keys } = await ownParts(env);
  const secret = options.secret ?? newWebhookSecret();
  const forward =
    forwardTo === undefined
      ? null
      : { origin: new URL(forwardTo).origin, timeoutMs: config.settings.DELIVERY_TIMEOUT };
  const onRequest = (request: ReceivedRequest) =>
    print(options.json ? JSON.stringify(request) : lines(request, options.body));

  async function registered(sql: Pool, port: number, signal: AbortSignal): Promise<void> {
    const url = addressOf(port, forwardTo);
    const refused = configuredGuard(config, own)(url);
    if (refused !== null) {
      const remedy =
        config.settings.WEBHOOK_HTTPS_ONLY && url.startsWith('http:')
          ? 'without WEBHOOK_HTTPS_ONLY'
          : 'with DELIVERY_ALLOW_CIDRS=127.0.0.0/8';
      throw new UserError(
        `Deliveries to this machine are refused (a URL ${refused}): start Waybill, and this command, ${remedy}.`,
      );
    }
    const opened = await keys(sql);
    const leftovers = await removeLeftovers(sql, eshopId);
    if (leftovers > 0 && !options.json)
      print(`Removed ${counted(leftovers, 'webhook')} left behind by a listener that was killed.`);
    const webhook = await register(sql, opened, options, { url, secret });
    try {
      print(beginning(options, { url, secret, webhook }));
      await aborted(signal);
    } finally {
      await deleteWebhook(sql, eshopId, webhook.id).catch(() =>
        process.stderr.write(
          `Webhook ${webhook.id} was not removed. To stop its deliveries: waybill webhooks deactivate ${webhook.id}\n`,
        ),
      );
    }
  }

  // Handles Ctrl-C until all is removed: under npm it arrives twice.
  await untilInterrupted('Stopped.', (signal) =>
    withDatabase(config.settings, async (sql) => {
      if ((await findEshop(sql, eshopId)) === null) throw noSuchEshop(eshopId);
      const server = await startListening({ port: options.port, secret, forwardTo: forward, onRequest });
      try {
        await registered(sql, server.port, signal);
      } finally {
        await server.close();
      }
    }),
  );
}
