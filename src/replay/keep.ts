/** Keeps histories as files, in the format of Temporal's own tools. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { makeFolder } from '../lib/make-folder.ts';
import { confidentialIn, type Finding } from './confidential.ts';
import type { RunHistory } from './fetch.ts';

/** The maximum length of a workflow's id in its file name. */
const MAX_FILE_NAME_CHARS = 120;

/** Removes identities (`process@machine`, an operator's address), which say nothing about the workflow. */
function anonymous(json: string): string {
  const identities = new Set(
    [...json.matchAll(/"identity": "([^"]+@[^"]+)"/g)].map(([, found = '']) => found),
  );
  return [...identities].reduce((text, identity) => text.replaceAll(identity, 'worker'), json);
}

/**
 * Writes a history into a folder, for the owner only; creates the folder if it is missing.
 * @returns why it was not written; undefined if it was
 */
export async function keepHistory(
  directory: string,
  { workflowId, runId, history }: RunHistory,
  known: ReadonlyMap<string, string>,
): Promise<Finding | undefined> {
  const text = anonymous(historyToJSON(history));
  const finding = confidentialIn(historyFromJSON(JSON.parse(text)), known);
  if (finding !== undefined) return finding;
  await makeFolder(directory, 0o700);
  const name = `${workflowId.replaceAll(/[^\w.-]+/g, '_').slice(0, MAX_FILE_NAME_CHARS)}.${runId}.json`;
  await writeFile(join(directory, name), `${text}\n`, { mode: 0o600 });
  return undefined;
}
