/** `waybill webhooks activate|deactivate|pause|resume`: as in the API, to reach open deliveries; and `test`. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { setActive } from '../db/webhooks/change.ts';
import { pauseWebhook, resumeWebhook } from '../db/webhooks/pause.ts';
import { Problem } from '../domain/problem.ts';
import type { TestDeliveryResult } from '../domain/test-delivery.ts';
import { MAX_PAUSE_DAYS } from '../domain/webhook-pause.ts';
import { type CommandContext, checked, noOptions, option, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { minute } from './layout.ts';
import { ofItsEshop, withDatabase } from './open-database.ts';
import { testedTypeOption, time, webhookNumber } from './options.ts';

const switches = [
  {
    verb: 'activate',
    active: true,
    description:
      'resume deliveries: those held are attempted within seconds, unless their time limit has passed',
    done: 'is active. Held deliveries resume',
  },
  {
    verb: 'deactivate',
    active: false,
    description: 'stop deliveries: new events create none, and open ones are held',
    done: 'is inactive. Its open deliveries are held',
  },
] as const;

/** Adds `activate` and `deactivate`: as in the API, so that the change reaches open deliveries. */
export function addSwitches(command: Command, { env, print }: CommandContext): void {
  for (const { verb, active, description, done } of switches) {
    const part = command.command(verb).description(description).argument('<id>', 'its number');
    runs(part, noOptions, async ({ json }, written) => {
      const id = checked(webhookNumber('<id>'), written);
      const { changed } = await withDatabase(readSettings(env), (sql) =>
        ofItsEshop(sql, id, (eshopId) => setActive(sql, eshopId, id, active)),
      );
      if (json) return print(JSON.stringify({ webhookId: id, active, changed }));
      const already = `is already ${active ? 'active' : 'inactive'}. Nothing was changed`;
      print(`Webhook ${id} ${changed ? done : already}.`);
    });
  }
}

const pauseOptions = v.object({
  until: option(
    '--until <time>',
    `the end of the pause, at most ${MAX_PAUSE_DAYS} days ahead; default: as late as possible`,
    v.optional(time('--until')),
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

/** Adds `pause`, and `resume`, which also ends a pause that an e-shop has begun. */
export function addPauses(command: Command, { env, print }: CommandContext): void {
  const pause = command
    .command('pause')
    .description('hold deliveries until a time, without loss: new events still create them; or move the end')
    .argument('<id>', 'its number');
  runs(pause, pauseOptions, async ({ until = null, json }, written) => {
    const id = checked(webhookNumber('<id>'), written);
    const end = await withDatabase(readSettings(env), (sql) =>
      ofItsEshop(sql, id, async (eshopId) => {
        const paused = await pauseWebhook(sql, eshopId, id, until).catch(refusePause);
        return paused?.pausedUntil ?? null;
      }),
    );
    if (json) return print(JSON.stringify({ webhookId: id, pausedUntil: end }));
    print(
      `Webhook ${id} is paused until ${minute(end)}. Its deliveries are held, and continue automatically then.`,
    );
  });
  const part = command
    .command('resume')
    .description('end the pause of a webhook: held deliveries continue within seconds')
    .argument('<id>', 'its number');
  runs(part, noOptions, async ({ json }, written) => {
    const id = checked(webhookNumber('<id>'), written);
    const { changed } = await withDatabase(readSettings(env), (sql) =>
      ofItsEshop(sql, id, (eshopId) => resumeWebhook(sql, eshopId, id).catch(notPaused)),
    );
    if (json) return print(JSON.stringify({ webhookId: id, changed }));
    print(
      changed
        ? `The pause of webhook ${id} is over. Held deliveries continue.`
        : `Webhook ${id} is not paused. Nothing was changed.`,
    );
  });
}

/** Exit codes besides 0 and 1. */
const FAILED = 2;
const INCONCLUSIVE = 3;

const headerLines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

/** Request and response, as on the wire. */
function transcript({ request, response, durationMs }: TestDeliveryResult): string {
  const sent = [
    `${request.method} ${request.url}`,
    ...headerLines(request.headers),
    ...(request.body === null ? [] : ['', request.body]),
  ];
  if (response === null) return sent.join('\n');
  const came = [
    `HTTP ${response.status} after ${durationMs} ms`,
    ...headerLines(response.headers),
    ...(response.excerpt === null ? [] : ['', response.excerpt]),
  ];
  return [...sent, '', ...came].join('\n');
}

export function addTest(command: Command, { env, print }: CommandContext): void {
  const part = command
    .command('test')
    .description(
      'send one signed request with a sample of one of its types, whether active or not; it has no consequences',
    )
    .argument('<id>', 'its number')
    .addHelpText(
      'after',
      '\nThe request is sent from this machine, not from a worker. It carries X-Service-Test: true.' +
        '\nExit code: 0 accepted, 1 could not be sent, 2 the receiver failed, 3 inconclusive.',
    );
  runs(part, testedTypeOption, async ({ json, type }, written) => {
    const id = checked(webhookNumber('<id>'), written);
    // The sender takes longer to load than the other subcommands.
    const { sendTestTo } = await import('./send-test.ts');
    const result = await sendTestTo(env, { id, type });
    print(json ? JSON.stringify(result) : transcript(result));
    const { outcome, error } = result;
    if (outcome === 'success') return;
    throw new UserError(
      error ?? `The test ended as ${outcome}.`,
      outcome === 'inconclusive' ? INCONCLUSIVE : FAILED,
    );
  });
}
