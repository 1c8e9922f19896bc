/** The point where a history and changed code diverge: the break names the event, and what the SDK says. */
import { readdirSync, readFileSync } from 'node:fs';
import { type History, historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, expect, test } from 'vitest';
import { breakOf, startReplayer } from '../../src/replay/breaks.ts';
import { confidentialIn } from '../../src/replay/confidential.ts';
import { silenceTemporalLogs } from '../../src/temporal/logs.ts';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';

const folder = new URL('./histories/', import.meta.url);
const read = (name: string): History =>
  historyFromJSON(JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')));
const recorded = read('delivered-after-retries');

/** The same history, as if from another workflow. */
function ledBy(workflow: string, { events }: History): History {
  const [first, ...rest] = events ?? [];
  const started = first?.workflowExecutionStartedEventAttributes;
  const workflowExecutionStartedEventAttributes = { ...started, workflowType: { name: workflow } };
  return { events: [{ ...first, workflowExecutionStartedEventAttributes }, ...rest] };
}

silenceTemporalLogs();
const replayer = startReplayer(await buildWorkflowBundle(new URL('./changes.ts', import.meta.url)));
afterAll(async () => {
  await replayer.close();
});

test.each([
  ['timerFirst', 5, /^Timer machine does not handle this event: .*UpsertWorkflowSearchAttributes/],
  ['activityBeside', 12, /event 'attemptDelivery' does not match .* activity command 'readDelivery'$/],
  ['activityLast', 29, /^Activity machine does not handle this event: .*WorkflowExecutionCompleted/],
  ['endsAtOnce', 5, /^Complete workflow machine does not handle this event/],
  ['doesNothing', 5, /^No command scheduled for event .*UpsertWorkflowSearchAttributes/],
  ['throwsAnError', 4, /^there is no "policy" here$/],
  ['forgotten', 4, /workflow of type 'forgotten'/],
])('%s breaks at event %i: %s', async (workflow, eventId, details) => {
  const result = await breakOf(replayer, 'example', ledBy(workflow, recorded));
  expect(result).toEqual({ eventId, details: expect.stringMatching(details) });
});

test('a workflow that reads its delivery twice breaks at the wait for an attempt under way', async () => {
  const elsewhere = ledBy('activityFirst', read('first-attempt-of-another-process'));
  const result = await breakOf(replayer, 'example', elsewhere);
  expect(result).toMatchObject({ eventId: 11, details: expect.stringContaining('TimerStarted') });
});

test('a history that replays has no break, even after others had one', async () => {
  expect(await breakOf(replayer, 'example', recorded)).toBeUndefined();
});

test('a history without any decision yet has no break', async () => {
  const begun = { events: recorded.events?.slice(0, 3) ?? [] };
  expect(await breakOf(replayer, 'example', begun)).toBeUndefined();
});

const NOTHING: ReadonlyMap<string, string> = new Map();

test.each(readdirSync(folder).map((file) => file.replace(/\.json$/, '')))(
  '%s contains only identifiers',
  (name) => {
    expect(confidentialIn(read(name), NOTHING)).toBeUndefined();
  },
);
