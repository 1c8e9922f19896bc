/** `waybill deliveries jobs`: what was asked of many deliveries at once. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';

const idSchema = v.pipe(v.string(), v.regex(/^waybill-[\w-]+$/, '<id> must be the id of a job.'));
const cancelSchema = v.object({ ...jsonSchema.entries, reason: v.optional(v.string(), 'canceled') });

/** Adds it. */
export function addJobs(command: Command, { env, print }: CommandContext): void {
  const jobs = command
    .command('jobs')
    .description('bulk actions on deliveries: show their progress, cancel one');
  jobs
    .command('show')
    .description('show the progress until it ends; Ctrl-C only stops watching')
    .argument('<id>', 'its id')
    .addOption(json())
    .action(async (written: unknown, given: unknown) => {
      const id = checked(idSchema, written);
      const options = checked(jsonSchema, given);
      const { showJob } = await import('./bulk-actions.ts');
      await showJob(readSettings(env), id, { print, json: options.json ?? false });
    });
  jobs
    .command('cancel')
    .description('stop a job; what it has already done is not undone')
    .argument('<id>', 'its id')
    .option('--reason <text>', 'the reason')
    .addOption(json())
    .action(async (written: unknown, given: unknown) => {
      const id = checked(idSchema, written);
      const { reason, ...options } = checked(cancelSchema, given);
      const { cancelJob } = await import('./bulk-actions.ts');
      await cancelJob(readSettings(env), id, { reason, print, json: options.json ?? false });
    });
}
