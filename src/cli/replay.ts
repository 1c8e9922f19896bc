/** `waybill replay`: whether the workflows of a Temporal server can continue with the present code. */
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Command } from 'commander';
import * as v from 'valibot';
import { confidentialValues, readSettings } from '../config/config.ts';
import { hostAndPort } from '../config/values.ts';
import { counted } from '../domain/text.ts';
import { argument, type CommandContext, option, optional, runs, wholeNumber } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import type { Replayed } from '../replay/replay.ts';
import { INCONCLUSIVE, SOME_FAILED } from './exit-codes.ts';
import { table } from './layout.ts';

const MAX_HISTORIES = 1_000_000;
const address = v.pipe(
  v.string(),
  v.check((text) => v.is(hostAndPort, text), '--address must be host:port.'),
);
const folder = v.pipe(v.string(), v.minLength(1, '--save must be the path of a folder.'));
const replayOptions = v.object({
  ids: argument(
    '[workflow ids...]',
    'or ids of deliveries; default: all workflows on TEMPORAL_TASK_QUEUE',
    v.array(v.string()),
  ),
  address: optional(
    '--address <host:port>',
    'the Temporal server; default: TEMPORAL_ADDRESS, else that of the instance',
    address,
  ),
  query: optional(
    '--query <query>',
    'the workflows to replay, such as "ExecutionStatus = \'Running\'"',
    v.string(),
  ),
  limit: option(
    '--limit <n>',
    'how many to replay at most: running ones first, then the latest',
    wholeNumber(MAX_HISTORIES),
    '1000',
  ),
  save: optional(
    '--save <folder>',
    'save the histories there, except those that contain more than identifiers',
    folder,
  ),
});

/** The query for Waybill's workflows: the namespace may have others. */
const allOf = (taskQueue: string) => `TaskQueue = '${taskQueue.replaceAll("'", "''")}'`;

const histories = (count: number) => counted(count, 'history', 'histories');

/** For people: the histories that break, the histories not saved, and the number replayed. */
function report({ live, closed, broken, refused, saved }: Replayed, save: string | undefined): string[] {
  const breaks = broken.map(({ workflowId, eventId, details }) => ({
    workflow: workflowId,
    event: eventId,
    break: details,
  }));
  const findings = refused.map(({ workflowId, eventId, what }) => ({
    'not saved': workflowId,
    event: eventId,
    holds: what,
  }));
  return [
    ...(breaks.length === 0 ? [] : [table(breaks)]),
    ...(findings.length === 0 ? [] : [table(findings)]),
    `${histories(live + closed)} replayed (${live} live, ${closed} closed): ${broken.length === 0 ? 'none breaks' : `${broken.length} of them ${broken.length === 1 ? 'breaks' : 'break'}`}.`,
    ...(save === undefined ? [] : [`${histories(saved)} saved in ${save}.`]),
  ];
}

/** @param workflows replaces the present workflow code */
export function replayCommand(
  command: Command,
  { env, print }: CommandContext,
  workflows?: WorkflowBundleOption,
): void {
  command.addHelpText(
    'after',
    '\nExit code: 0 all replay, 1 could not be checked, 2 some break, 3 some were not replayed or not saved.',
  );
  runs(command, replayOptions, async ({ ids, address, query, limit, save, json }) => {
    if (ids.length > 0 && query !== undefined) {
      throw new UserError('Give ids of workflows or a --query, but not both.');
    }
    const settings = readSettings({ ...env, TEMPORAL_ADDRESS: address ?? env.TEMPORAL_ADDRESS });
    // Temporal's libraries take a while to load, and `--help` and errors in the options do not need them.
    const [{ withTemporal }, { latestRun, runsFor }, { replayRuns }, { loadWorkflowBundle }] =
      await Promise.all([
        import('./open-temporal.ts'),
        import('../replay/fetch.ts'),
        import('../replay/replay.ts'),
        import('../temporal/workflow-bundle.ts'),
      ]);
    const { more, ...result } = await withTemporal(settings, async (client, { taskQueue }) => {
      const found =
        ids.length > 0
          ? await Promise.all(ids.map((id) => latestRun(client, id)))
          : await runsFor(client, query ?? allOf(taskQueue), limit);
      // If nothing was replayed, the check must not pass.
      if (found.length === 0) throw new UserError(`No workflow matches ${query ?? allOf(taskQueue)}.`);
      const runs = ids.length > 0 ? found : found.slice(0, limit);
      const keeping = save === undefined ? undefined : { directory: save, known: confidentialValues(env) };
      const replayed = await replayRuns(client, runs, workflows ?? (await loadWorkflowBundle()), keeping);
      return { ...replayed, more: found.length > runs.length };
    });
    if (result.live + result.closed === 0)
      throw new UserError('Temporal has removed all of them in the meantime.');
    if (json) print(JSON.stringify({ ...result, more }));
    else for (const line of report(result, save)) print(line);
    if (result.broken.length > 0) {
      throw new UserError(
        `${histories(result.broken.length)} cannot be continued by this code.`,
        SOME_FAILED,
      );
    }
    if (result.refused.length > 0) {
      throw new UserError(
        `${counted(result.refused.length, 'history was', 'histories were')} not saved.`,
        INCONCLUSIVE,
      );
    }
    // With `--save`, a part of the histories may be enough.
    if (more && save === undefined)
      throw new UserError(`There are more than ${limit}: use --limit to replay all.`, INCONCLUSIVE);
  });
}
