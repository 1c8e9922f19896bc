/**
 * Deliveries under way survive a deployment: every recorded history replays with the workflow code as it is now.
 * A red test here before a release means that running deliveries would break: use `patched()`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, type ReplayResult, Runtime, Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { type CloseEvent, scenarios } from './scenarios.ts';

const folder = new URL('./histories/', import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace(/\.json$/, ''));
const results = new Map<string, ReplayResult>();

const closeEvents: Record<CloseEvent, string> = {
  completed: 'workflowExecutionCompletedEventAttributes',
  failed: 'workflowExecutionFailedEventAttributes',
  canceled: 'workflowExecutionCanceledEventAttributes',
};

function read(name: string) {
  return historyFromJSON(JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')));
}

async function* histories() {
  for (const name of names) yield { workflowId: name, history: read(name) };
}

// Without messages about a worker's start and stop.
Runtime.install({ logger: new DefaultLogger('WARN') });
const workflowBundle = await buildWorkflowBundle();
// The iterator does not throw for a failing history: each result is checked below.
for await (const result of Worker.runReplayHistories({ workflowBundle }, histories())) {
  results.set(result.workflowId, result);
}

test('every scenario has a recorded history', () => {
  expect(names).toEqual(expect.arrayContaining(scenarios.map((scenario) => scenario.name)));
});

test.each(names)('%s replays', (name) => {
  const result = results.get(name);
  expect(result).toBeDefined();
  expect(result?.error).toBeUndefined();
});

test.each(scenarios.map(({ name, closes }) => [name, closes] as const))('%s ends as %s', (name, closes) => {
  const last = read(name).events?.at(-1);
  expect(Object.keys(last ?? {})).toContain(closeEvents[closes]);
});
