/** Keeps histories as files, in the form in which Temporal's own tools read and write them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { confidentialIn, type Finding } from './confidential.ts';
import type { RunHistory } from './fetch.ts';

/** Of a workflow's id in the name of its file. */
const MAX_FILE_NAME_CHARS = 120;

/** Without who did it (`process@machine`, an operator's address): that says nothing about the workflow. */
function anonymous(json: string): string {
  const identities = new Set(
    [...json.matchAll(/"identity": "([^"]+@[^"]+)"/g)].map(([, found = '']) => found),
  );
  return [...identities].reduce((text, identity) => text.replaceAll(identity, 'worker'), json);
}

/**
 * Writes a history into a folder that is made where it is missing; for its owner alone.
 * @returns what speaks against it where it was not written
 */
export async function keepHistory(
  directory: string,
  { workflowId, runId, history }: RunHistory,
  known: ReadonlyMap<string, string>,
): Promise<Finding | undefined> {
  const text = anonymous(historyToJSON(history));
  const finding = confidentialIn(historyFromJSON(JSON.parse(text)), known);
  if (finding !== undefined) return finding;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = `${workflowId.replaceAll(/[^\w.-]+/g, '_').slice(0, MAX_FILE_NAME_CHARS)}.${runId}.json`;
  await writeFile(join(directory, name), `${text}\n`, { mode: 0o600 });
  return undefined;
}
