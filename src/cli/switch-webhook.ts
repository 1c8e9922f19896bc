/** `waybill webhooks activate|deactivate|pause|resume`, which reach open deliveries as in the API; and `test`. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { findEshop } from '../db/accounts/eshops.ts';
import type { Pool, Sql } from '../db/connection/pool.ts';
import { listAllWebhooks } from '../db/webhooks/all-webhooks.ts';
import { setActive } from '../db/webhooks/change.ts';
import { pauseWebhook, resumeWebhook } from '../db/webhooks/pause.ts';
import { Problem } from '../domain/problem.ts';
import type { TestDeliveryResult } from '../domain/test-delivery.ts';
import { headerLines } from '../domain/text.ts';
import { MAX_PAUSE_DAYS } from '../domain/webhook-pause.ts';
import { type CommandContext, flag, optional, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { INCONCLUSIVE, SOME_FAILED } from './exit-codes.ts';
import { minute } from './layout.ts';
import { withDatabase } from './open-database.ts';
import {
  MAX_UNASKED_DELIVERIES,
  noSuchWebhook,
  oneWebhook,
  someWebhooks,
  testedType,
  time,
  webhookId,
} from './options.ts';
import { eshopText } from './status.ts';

/**
 * Describes the webhook with a number, so that a wrong number is noticed; without the query, which may hold a secret.
 * @throws UserError if there is none
 */
async function describeWebhook(sql: Sql, id: number) {
  const [webhook] = await listAllWebhooks(sql, { id }, 1);
  if (webhook === undefined) throw noSuchWebhook(id);
  const { eshopId, active } = webhook;
  const { origin, pathname } = new URL(webhook.url);
  const url = `${origin}${pathname}`;
  const name = `Webhook ${id} of ${eshopText(await findEshop(sql, eshopId))}, ${url},`;
  const openDeliveries = webhook.pending + webhook.retrying;
  return { name, active, facts: { webhookId: id, eshopId, url, openDeliveries } };
}

/** Activates a webhook, and says so. @throws UserError if there is none */
async function activate(
  sql: Pool,
  id: number,
  { print, json }: Pick<CommandContext, 'print'> & { json: boolean },
) {
  const { name, facts } = await describeWebhook(sql, id);
  const switched = await setActive(sql, facts.eshopId, id, true);
  if (switched === null) throw noSuchWebhook(id);
  const { changed } = switched;
  const message = changed
    ? `${name} is active. Its open deliveries resume: ${facts.openDeliveries}.`
    : `${name} is already active. Nothing was changed.`;
  print(json ? JSON.stringify({ ...facts, active: true, changed }) : message);
}

/** Adds `activate`. As in the API, the change reaches open deliveries. A wrong number stops no other webhook. */
export function addActivate(command: Command, { env, print }: CommandContext): void {
  command.addHelpText(
    'after',
    '\nExit code: 0 done, 1 could not be done, 2 some do not exist; the others are active.',
  );
  runs(command, someWebhooks, async ({ ids, json }) => {
    await withDatabase(readSettings(env), async (sql) => {
      const refusals: string[] = [];
      for (const id of ids)
        await activate(sql, id, { print, json }).catch((error: unknown) => {
          if (!(error instanceof UserError)) throw error;
          refusals.push(error.message);
        });
      if (refusals.length > 0) throw new UserError(refusals.join('\n'), SOME_FAILED);
    });
  });
}

const deactivateOptions = v.object({
  id: webhookId,
  dryRun: flag('--dry-run', 'only say which webhook it is, and how many deliveries are open'),
  yes: flag('--yes', 'also with many open deliveries'),
});

/** Adds `deactivate`, which works in the same way. */
export function addDeactivate(command: Command, { env, print }: CommandContext): void {
  runs(command, deactivateOptions, async ({ id, json, dryRun, yes }) => {
    await withDatabase(readSettings(env), async (sql) => {
      const { name, active, facts } = await describeWebhook(sql, id);
      if (active && !dryRun && !yes && facts.openDeliveries > MAX_UNASKED_DELIVERIES)
        throw new UserError(
          `${name} has ${facts.openDeliveries} open deliveries, whose time limit goes on while it is inactive. Use --yes to deactivate it.`,
        );
      const switched = dryRun ? { changed: false } : await setActive(sql, facts.eshopId, id, false);
      if (switched === null) throw noSuchWebhook(id);
      const { changed } = switched;
      if (json) return print(JSON.stringify({ ...facts, active: dryRun && active, changed }));
      const count = `Its open deliveries ${changed ? 'are' : 'would be'} held: ${facts.openDeliveries}.`;
      if (changed) return print(`${name} is inactive. ${count}`);
      print(
        dryRun && active
          ? `${name} would be deactivated. ${count} Nothing was changed (dry run).`
          : `${name} is already inactive. Nothing was changed.`,
      );
    });
  });
}

const pauseOptions = v.object({
  id: webhookId,
  until: optional(
    '--until <time>',
    `the end of the pause, at most ${MAX_PAUSE_DAYS} days ahead; default: as late as possible`,
    time,
  ),
});

/** @throws UserError that names the option, if the end was refused; or that the webhook is inactive */
function refusePause(error: unknown): never {
  if (!(error instanceof Problem)) throw error;
  const [about] = error.problems;
  throw new UserError(about === undefined ? error.message : `--${about.path} ${about.message}.`);
}

/** An inactive webhook is not paused. */
function notPaused(error: unknown) {
  if (!(error instanceof Problem)) throw error;
  return { changed: false };
}

/** Adds `pause`. */
export function addPause(command: Command, { env, print }: CommandContext): void {
  runs(command, pauseOptions, async ({ id, until = null, json }) => {
    await withDatabase(readSettings(env), async (sql) => {
      const { name, facts } = await describeWebhook(sql, id);
      const paused = await pauseWebhook(sql, facts.eshopId, id, until).catch(refusePause);
      const end = paused?.pausedUntil ?? null;
      if (end === null) throw noSuchWebhook(id);
      if (json) return print(JSON.stringify({ ...facts, pausedUntil: end }));
      print(
        `${name} is paused until ${minute(end)}. Its open deliveries are held, and continue automatically then: ${facts.openDeliveries}.`,
      );
    });
  });
}

/** Adds `resume`, which also ends a pause that an e-shop has begun. */
export function addResume(command: Command, { env, print }: CommandContext): void {
  runs(command, oneWebhook, async ({ id, json }) => {
    await withDatabase(readSettings(env), async (sql) => {
      const { name, facts } = await describeWebhook(sql, id);
      const resumed = await resumeWebhook(sql, facts.eshopId, id).catch(notPaused);
      if (resumed === null) throw noSuchWebhook(id);
      const { changed } = resumed;
      if (json) return print(JSON.stringify({ ...facts, changed }));
      print(
        changed
          ? `${name} is no longer paused. Its open deliveries continue: ${facts.openDeliveries}.`
          : `${name} is not paused. Nothing was changed.`,
      );
    });
  });
}

const testOptions = v.object({ id: webhookId, type: testedType });

/** The request and the response, as on the wire. */
function transcript({ request, response, durationMs }: TestDeliveryResult): string {
  const sent = [
    `${request.method} ${request.url}`,
    headerLines(request.headers),
    ...(request.body === null ? [] : ['', request.body]),
  ];
  if (response === null) return sent.join('\n');
  const came = [
    `HTTP ${response.status} after ${durationMs} ms`,
    headerLines(response.headers),
    ...(response.excerpt === null ? [] : ['', response.excerpt]),
  ];
  return [...sent, '', ...came].join('\n');
}

export function addTest(command: Command, { env, print }: CommandContext): void {
  command.addHelpText(
    'after',
    '\nThe request is sent from this machine, not from a worker. It carries X-Service-Test: true.' +
      '\nExit code: 0 accepted, 1 could not be sent, 2 the receiver failed, 3 inconclusive.',
  );
  runs(command, testOptions, async ({ id, json, type }) => {
    // Loaded only here: the sender takes longer to load than the other subcommands.
    const { sendTestTo } = await import('./send-test.ts');
    const result = await sendTestTo(env, { id, type });
    print(json ? JSON.stringify(result) : transcript(result));
    const { outcome, error } = result;
    if (outcome === 'success') return;
    throw new UserError(
      error ?? `The test ended as ${outcome}.`,
      outcome === 'inconclusive' ? INCONCLUSIVE : SOME_FAILED,
    );
  });
}
