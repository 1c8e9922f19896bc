/**
 * Replays the histories of a Temporal server against one build of the workflow code.
 *
 * Module replay, which imports domain, lib, temporal, workflows. Begin: this file.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { makeFolder } from '../lib/make-folder.ts';
import { silenceTemporalLogs } from '../temporal/logs.ts';
import { type Break, breakOf, startReplayer } from './breaks.ts';
import { confidentialIn, type Finding } from './confidential.ts';
import { historiesOf, type Run, type RunHistory } from './fetch.ts';

interface Keeping {
  readonly directory: string;
  /** Names and values that are certainly confidential. */
  readonly known: ReadonlyMap<string, string>;
}

type Named<T> = T & Omit<Run, 'live'>;
export type Replayed = Awaited<ReturnType<typeof replayRuns>>;

/** The maximum length of a workflow's id in its file name. */
const MAX_FILE_NAME_CHARS = 120;

/** Removes identities (`process@machine`, an operator's address), which say nothing about the workflow. */
function anonymous(json: string): string {
  const identities = new Set(
    [...json.matchAll(/"identity": "([^"]+@[^"]+)"/g)].map(([, found = '']) => found),
  );
  return [...identities].reduce((text, identity) => text.replaceAll(identity, 'worker'), json);
}

/** Writes a history into a folder, made if missing, for the owner only. @returns why not; undefined if it was */
async function keepHistory({ workflowId, runId, history }: RunHistory, { directory, known }: Keeping) {
  const text = anonymous(historyToJSON(history));
  const finding = confidentialIn(historyFromJSON(JSON.parse(text)), known);
  if (finding !== undefined) return finding;
  await makeFolder(directory, 0o700);
  const name = `${workflowId.replaceAll(/[^\w.-]+/g, '_').slice(0, MAX_FILE_NAME_CHARS)}.${runId}.json`;
  await writeFile(join(directory, name), `${text}\n`, { mode: 0o600 });
  return undefined;
}

/** @returns how many histories of running and of ended workflows replayed, and those not kept, with the reason */
export async function replayRuns(
  client: Client,
  runs: readonly Run[],
  workflowBundle: WorkflowBundleOption,
  keeping?: Keeping,
) {
  silenceTemporalLogs();
  const replayer = startReplayer(workflowBundle);
  const broken: Named<Break>[] = [];
  const refused: Named<Finding>[] = [];
  const counts = { live: 0, closed: 0, saved: 0 };

  try {
    for await (const run of historiesOf(client, runs)) {
      const { workflowId, runId, live, history } = run;
      if (keeping !== undefined) {
        const finding = await keepHistory(run, keeping);
        if (finding === undefined) counts.saved += 1;
        else refused.push({ workflowId, runId, ...finding });
      }
      const breakage = await breakOf(replayer, workflowId, history);
      if (breakage !== undefined) broken.push({ workflowId, runId, ...breakage });
      counts[live ? 'live' : 'closed'] += 1;
    }
  } finally {
    await replayer.close();
  }
  return { ...counts, broken, refused };
}
