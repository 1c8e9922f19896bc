/** The example of docs/changing-workflows.md: histories of before and after, replayed with and without a patch. */
import { readFileSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { breakOf, startReplayer } from '../../src/replay/breaks.ts';
import { silenceTemporalLogs } from '../../src/temporal/logs.ts';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';

beforeAll(() => silenceTemporalLogs());

const before = './histories/delivered-at-first.json';
const after = './example/after.json';

test.each([
  [before, './example/without-patch.ts', /^Activity machine does not handle .*WorkflowExecutionCompleted/],
  [before, './example/with-patch.ts', undefined],
  [after, './example/with-patch.ts', undefined],
  [after, '../../workflows/index.ts', /read-first/],
])('%s, replayed by %s: %s', async (file, workflows, details) => {
  const history = historyFromJSON(JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')));
  const replayer = startReplayer(await buildWorkflowBundle(new URL(workflows, import.meta.url)));
  onTestFinished(() => replayer.close());
  const broken = await breakOf(replayer, 'example', history);
  expect(broken?.details).toEqual(details && expect.stringMatching(details));
});
