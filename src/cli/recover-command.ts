/** `waybill recover`: a webhook's lost events are delivered again, by a durable workflow. */
import { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import type { Pool } from '../db/pool.ts';
import { askForRecovery } from '../db/recoveries/ask.ts';
import type { LostEventCount } from '../db/recoveries/lost-events.ts';
import { type Recoverable, recoverable, usuallyRecovered } from '../domain/recovery.ts';
import { counted } from '../domain/words.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { watchRecovery } from './control-recovery.ts';
import { minute } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { noSuchWebhook, time, webhookNumber } from './options.ts';
import { formatTime } from './policy-table.ts';

const INCLUDE_MESSAGE = `--include must be some of ${recoverable.join(', ')}, separated by commas.`;
const optionsSchema = v.pipe(
  v.object({
    ...jsonSchema.entries,
    since: v.optional(
      v.pipe(
        time('--since'),
        v.check((since) => since.getTime() <= Date.now(), '--since must not be in the future.'),
      ),
    ),
    until: v.optional(time('--until')),
    include: v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => text.split(',').map((part) => part.trim())),
        v.array(v.picklist(recoverable, INCLUDE_MESSAGE), INCLUDE_MESSAGE),
        v.transform((named) => recoverable.filter((name) => named.includes(name))),
      ),
    ),
    dryRun: v.optional(v.literal(true)),
    watch: v.optional(v.literal(true)),
  }),
  v.check(
    ({ since, until }) => until === undefined || since === undefined || since < until,
    '--until must be later than --since.',
  ),
  v.check(
    ({ dryRun, watch }) => dryRun === undefined || watch === undefined,
    '--dry-run and --watch cannot be combined.',
  ),
);
type Options = v.InferOutput<typeof optionsSchema>;

interface Answer {
  /** Null for a dry run. */
  readonly recoveryId: string | null;
  /** It was asked for before. */
  readonly known: boolean;
  readonly found: LostEventCount;
  readonly since: Date;
  readonly include: readonly Recoverable[];
  readonly until: Date;
  readonly estimatedDurationMs: number;
}

async function recover(sql: Pool, webhookId: number, options: Options): Promise<Answer> {
  const { since, until = null, include, dryRun = false } = options;
  const answer = await askForRecovery(sql, webhookId, { since, until, include, dryRun });
  switch (answer.kind) {
    case 'notFound':
      throw noSuchWebhook(webhookId);
    case 'since':
      throw new UserError(`Webhook ${webhookId} has never been deactivated: say --since.`);
    case 'inactive':
      throw new UserError(
        `Webhook ${webhookId} is inactive. Activate it first: waybill webhooks activate ${webhookId}`,
      );
    case 'busy':
      throw new UserError(
        `Recovery ${answer.recoveryId} of this webhook is still looking for its events. Wait until it has found them, or cancel it.`,
      );
    default: {
      const { kind, ...asked } = answer;
      return { ...asked, known: kind === 'known' };
    }
  }
}

/** "1840 events, from 2026-11-20 18:00 to 2026-11-21 05:59, in about 21 s" */
function extent({ found, estimatedDurationMs: ms }: Answer): string {
  const { count, firstAt, lastAt } = found;
  const when = firstAt === null || lastAt === null ? '' : `, from ${minute(firstAt)} to ${minute(lastAt)}`;
  return `${counted(count, 'event')}${when}${count === 0 ? '' : `, in about ${formatTime(ms)}`}`;
}

function record(webhookId: number, { found, known, since, include, ...answer }: Answer) {
  const { count, firstAt: first, lastAt: last } = found;
  return { ...answer, known, webhookId, since, include, count, first, last };
}

export function recoverCommand({ env, print }: CommandContext): Command {
  return new Command('recover')
    .argument('<webhook id>', 'its number')
    .option('--since <time>', 'events at or after this time; default: when it was deactivated last')
    .option('--until <time>', 'events before this time; default: now')
    .option(
      '--include <kinds>',
      `${recoverable.join(', ')}; missed: no delivery, since the webhook was inactive or did not exist; default: ${usuallyRecovered.join(',')}, and missed after a deactivation`,
    )
    .option('--dry-run', 'only count the events and estimate the time; works for an inactive webhook, too')
    .option('--watch', 'show the progress until it ends; Ctrl-C only stops watching')
    .addOption(json())
    .addHelpText(
      'after',
      '\nA recovery runs on its own once started. The same command again returns the recovery that is running.' +
        '\nExit code: 0 started, or with --watch all delivered; 1 could not be started; 2 with --watch: not all delivered.',
    )
    .action(async (written: unknown, given: unknown) => {
      const id = checked(webhookNumber('<webhook id>'), written);
      const options = checked(optionsSchema, given);
      const settings = readSettings(env);
      const answer = await withDatabase(settings, (sql) => recover(sql, id, options));
      const { recoveryId, known } = answer;
      if (options.json) print(JSON.stringify(record(id, answer)));
      else if (recoveryId === null) print(`${extent(answer)}. Nothing was recovered (dry run).`);
      else print(`Recovery ${recoveryId}${known ? ' is already running' : ''}: ${extent(answer)}.`);
      if (recoveryId === null) return;
      if (options.watch)
        return await watchRecovery(settings, recoveryId, { print, json: options.json ?? false });
      if (!options.json)
        print(`It runs on its own. To follow it: waybill recoveries show ${recoveryId} --watch`);
    });
}
