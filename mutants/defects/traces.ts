/** Traces: what belongs together, and what nobody else is to know. */
import type { Defect } from '../defect.ts';

const caughtBy = (file: string, ...tests: string[]) => [{ file, tests }];
const END_TO_END = 'test/e2e/traces.test.ts';
const IN_A_BATCH =
  'in a batch each attempt is in its own request’s trace, with a link to the batch, which links to the requests';
const A_CLIENTS_TRACE =
  'a client’s trace goes on through API, outbox, relay and attempts, over a retry, to the receiver; nothing confidential is in it';

export const traceDefects: readonly Defect[] = [
  {
    name: 'trace-lost-in-a-shared-statement',
    file: 'src/db/records/insert.ts',
    text: 'events: happeningHere(events),',
    replacement: 'events,',
    noticed: 'What comes of a creation is in no trace.',
    caughtBy: caughtBy(
      'test/api/traces.test.ts',
      'creations at the same moment, a change and a redelivery each have their own',
    ),
  },
  {
    name: 'client-hides-its-requests',
    file: 'src/api/traced.ts',
    text: "recordedBy(c.req.header('traceparent'))",
    replacement: "c.req.header('traceparent') ?? null",
    noticed: 'The requests of an e-shop that does not record its traces are missing in ours.',
    caughtBy: caughtBy(
      'test/api/traces.test.ts',
      'a span goes on from a client that records its trace, and says no path',
    ),
  },
  {
    name: 'end-waits-for-a-hanging-collector',
    file: 'src/traces/open-telemetry.ts',
    text: 'await Promise.race([provider.shutdown().catch(onTrouble), late]);',
    replacement: 'await provider.shutdown().catch(onTrouble);',
    noticed: 'A process does not end while the collector of its traces hangs.',
    caughtBy: caughtBy(
      'test/unit/traces.test.ts',
      'a collector that hangs is waited for at the end, but not for long',
    ),
  },
  {
    name: 'secrets-of-a-url-in-a-span',
    file: 'src/delivery/traced-sender.ts',
    text: `'url.full': \`\${origin}/REDACTED\`,`,
    replacement: "'url.full': url,",
    noticed: 'Whoever reads traces knows what an e-shop hides in the path or query of a webhook.',
    caughtBy: caughtBy(END_TO_END, A_CLIENTS_TRACE),
  },
  {
    name: 'receiver-told-of-another-span',
    file: 'src/delivery/request.ts',
    text: 'headers.traceparent = request.traceparent',
    replacement: 'headers.traceparent = request.traceparent.toUpperCase()',
    noticed: 'The receiver’s spans begin a trace of their own.',
    caughtBy: caughtBy(END_TO_END, A_CLIENTS_TRACE),
  },
  {
    name: 'attempt-of-a-batch-without-its-link',
    file: 'src/attempt/attempt-span.ts',
    text: 'links: batchContext === undefined ? [] : [batchContext.traceparent],',
    replacement: 'links: batchContext === undefined ? [] : [],',
    noticed: 'Nobody sees which batch made an attempt.',
    caughtBy: caughtBy(END_TO_END, IN_A_BATCH),
  },
];
