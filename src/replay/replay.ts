/**
 * Replays the histories of a Temporal server against one build of the workflow code.
 *
 * Module replay, which imports domain, lib, temporal, workflows. Begin: this file.
 */
import type { Client } from '@temporalio/client';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { silenceTemporalLogs } from '../temporal/logs.ts';
import { type Break, breakOf } from './breaks.ts';
import type { Finding } from './confidential.ts';
import { historiesOf, type Run } from './fetch.ts';
import { keepHistory } from './keep.ts';
import { startReplayer } from './replayer.ts';

/** Where histories are kept. */
interface Keeping {
  readonly directory: string;
  /** Names and values that are certainly confidential. */
  readonly known: ReadonlyMap<string, string>;
}

type Named<T> = T & Omit<Run, 'live'>;

/** The results. */
export interface Replayed {
  /** Histories replayed: of running and of ended workflows. */
  readonly live: number;
  readonly closed: number;
  readonly broken: readonly Named<Break>[];
  readonly saved: number;
  /** Not kept, and why. */
  readonly refused: readonly Named<Finding>[];
}

/** Fetches, keeps and replays these runs. */
export async function replayRuns(
  client: Client,
  runs: readonly Run[],
  workflowBundle: WorkflowBundleOption,
  keeping?: Keeping,
): Promise<Replayed> {
  silenceTemporalLogs();
  const replayer = startReplayer(workflowBundle);
  const broken: Named<Break>[] = [];
  const refused: Named<Finding>[] = [];
  const counts = { live: 0, closed: 0, saved: 0 };

  try {
    for await (const run of historiesOf(client, runs)) {
      const { workflowId, runId, live, history } = run;
      if (keeping !== undefined) {
        const finding = await keepHistory(keeping.directory, run, keeping.known);
        if (finding === undefined) counts.saved += 1;
        else refused.push({ workflowId, runId, ...finding });
      }
      const found = await breakOf(replayer, workflowId, history);
      if (found !== undefined) broken.push({ workflowId, runId, ...found });
      counts[live ? 'live' : 'closed'] += 1;
    }
  } finally {
    await replayer.close();
  }
  return { ...counts, broken, refused };
}
