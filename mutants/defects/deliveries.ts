/** The requests: their content, their number, their secrets, and how long deliveries are kept. */
import { catchers, type Defect } from '../defect.ts';

export const deliveryDefects: readonly Defect[] = [
  {
    name: 'stock-sent-to-webhooks-that-did-not-ask',
    file: 'src/db/outbox/events.ts',
    text: '(w.on_stock_change or f.changed',
    replacement: '(true or f.changed',
    symptom: 'Webhooks of UPDATE_PRODUCT are called for every reservation, as they never were.',
    caughtBy: catchers(
      'test/api/stock-events.test.ts',
      'every kind of stock change fires one event with the current product, for webhooks that ask',
    ),
  },
  {
    name: 'exempt-range-lets-every-address-of-a-name-through',
    file: 'src/delivery/connector.ts',
    text: '.filter(({ address }) => guard.problemOf(address, port) === null)',
    replacement: '.filter(({ address }) => address !== "")',
    symptom: 'A name with one exempt address opens connections to its private ones.',
    caughtBy: catchers(
      'test/delivery/connections.test.ts',
      'private destinations an exempt range allows only the exempt addresses of a name',
    ),
  },
  {
    name: 'attempt-result-not-recorded-again',
    file: 'src/attempt/finish-attempt.ts',
    text: '  for (const wait of RECORD_RETRY_WAITS_MS) {',
    replacement: '  for (const wait of RECORD_RETRY_WAITS_MS.slice(99)) {',
    symptom: 'The database unavailable for a second: deliveries that were accepted are sent once more.',
    caughtBy: catchers(
      'test/workflow/interrupted.test.ts',
      'a response that arrives while the database is unavailable is recorded later, and not sent again',
    ),
  },
  {
    name: 'cursor-waits-for-nobody',
    file: 'src/db/maintenance/low-water-mark.ts',
    text: 'least(clock_timestamp(), min(xact_start),',
    replacement: 'coalesce(clock_timestamp(), min(xact_start),',
    symptom: 'A receiver that reconciles never learns of a delivery that took long to be written.',
    caughtBy: catchers(
      'test/api/all-deliveries.test.ts',
      'reading from a cursor a delivery that is committed late is not skipped: by Waybill',
      'reading from a cursor a delivery that is committed late is not skipped: by an operator',
      'reading from a cursor a delivery that is committed late is not skipped: after a transaction that has only read so far',
    ),
  },
  {
    name: 'operator-order-done-twice',
    file: 'src/db/deliveries/operator-actions.ts',
    text: 'before.find(({ id }) => id === asked.id)',
    replacement: 'before.find(() => false)',
    symptom: 'A workflow that is reset makes the attempt once more that an operator had ordered before.',
    caughtBy: catchers(
      'test/db/deliveries/repeated-steps.test.ts',
      'an operator action takes effect once, even if its step is repeated; the latest fifty are kept',
    ),
  },
  {
    name: 'operator-hold-slips',
    file: 'src/db/deliveries/attempts.ts',
    text: '{isOpen(sql)} and d.operator_stop is null\n',
    replacement: '{isOpen(sql)}\n',
    symptom: 'A request leaves after an operator was assured that none would.',
    caughtBy: catchers(
      'test/db/deliveries/repeated-steps.test.ts',
      'no attempt begins once an operator has stopped the delivery',
    ),
  },
  {
    name: 'retention-drops-what-is-open',
    file: 'src/db/retention/partitions.ts',
    text: "isOpen(sql, 'o')",
    replacement: "sql`o.state = 'pending'`",
    symptom: 'Deliveries under retry are gone with their week.',
    caughtBy: catchers(
      'test/db/retention/weeks.test.ts',
      'keeping rows an open delivery keeps its partitions; finished ones beside it go, and the rest once it ends',
    ),
  },
  {
    name: 'retention-drops-late-deliveries',
    file: 'src/db/retention/partitions.ts',
    text: "if ((await countNeeded(tx, partition)) > 0) return 'needed';",
    replacement: '',
    symptom: 'A delivery that is written as its week is dropped is gone.',
    caughtBy: catchers(
      'test/db/retention/weeks.test.ts',
      'during traffic a delivery written while its week is dropped is not lost, and nobody waits for the drop',
    ),
  },
  {
    name: 'redeliveries-at-the-same-moment',
    file: 'src/db/outbox/redeliver.ts',
    text: ' for no key update of e`',
    replacement: '`',
    symptom: 'Of requests for a redelivery that arrive at the same moment, several create one each.',
    caughtBy: catchers(
      'test/api/delivery-operations.test.ts',
      'ten simultaneous requests create one redelivery',
    ),
  },
  {
    name: 'secrets-of-a-url-in-a-span',
    file: 'src/delivery/traced-sender.ts',
    text: `'url.full': \`\${origin}/REDACTED\`,`,
    replacement: "'url.full': url,",
    symptom: 'Readers of traces see what an e-shop hides in the path or query of a webhook.',
    caughtBy: catchers(
      'test/e2e/traces.test.ts',
      'a trace goes from the client through all parts and a retry to the receiver, with no secrets',
    ),
  },
  {
    name: 'recovery-ends-before-its-mark',
    file: 'src/db/recoveries/step.ts',
    text: '(page?.last === true && idAt(recovery.until) <= mark)',
    replacement: 'page?.last === true',
    symptom: 'A recovery is completed, and events whose transactions were open never come.',
    caughtBy: catchers(
      'test/db/recoveries/order-of-records.test.ts',
      'an event committed after the first step is found, and nothing is delivered twice',
    ),
  },
  {
    name: 'recovery-forgets-what-was-delivered-since',
    file: 'src/db/recoveries/lost-events.ts',
    text: 'where not settled and became',
    replacement: 'where became',
    symptom: 'A receiver gets again what it has accepted in the meantime.',
    caughtBy: catchers(
      'test/api/recoveries.test.ts',
      'the search for losses events that were delivered again, or are being delivered, are not found',
    ),
  },
  {
    name: 'order-never-goes-on-after-a-give-up',
    file: 'src/db/deliveries/deliveries.ts',
    text: 'if (closed.ordered) await settleOrdering(sql, { records: [deliveryId] }).catch(() => {});',
    replacement: '',
    symptom:
      'The next of a record waits for a search of the relay after a delivery that expired or was canceled.',
    caughtBy: catchers('test/workflow/ordering.test.ts', 'a head canceled in Temporal releases the next'),
  },
  {
    name: 'supersedes-a-delivery-under-way',
    file: 'src/db/outbox/supersede-retries.ts',
    text: `    and not \${hasAttemptUnderWay(sql)}\n`,
    replacement: '',
    symptom:
      'With the ordering latest, the newer version comes while the receiver is still working on the older one.',
    caughtBy: catchers(
      'test/db/outbox/order-of-records.test.ts',
      'a delivery with an attempt under way is not superseded, and the newest stays blocked',
    ),
  },
  {
    name: 'order-overtaken-by-what-replaces',
    file: 'src/db/outbox/supersede-retries.ts',
    text: '        late_ms = e.late_ms,\n        due_at = now()',
    replacement: `        late_ms = e.late_ms, class = \${CLASS.fresh}, state = 'retrying', next_attempt_at = now(),\n        due_at = now()`,
    symptom: 'The newest change to a record arrives before what another webhook still has to send of it.',
    caughtBy: catchers(
      'test/workflow/ordering.test.ts',
      'the newest of superseded deliveries continues with the count and window, behind deliveries in between',
    ),
  },
  {
    name: 'order-wait-uses-up-the-window',
    file: 'src/db/outbox/keep-ordering.ts',
    text: ' end + (now() - d.due_at),',
    replacement: ' end,',
    symptom: 'A delivery that took over failures waits behind another webhook, and is given up too early.',
    caughtBy: catchers(
      'test/db/outbox/order-of-records.test.ts',
      'a successor blocked behind another webhook keeps its whole window, and leaves the import’s class',
    ),
  },
  {
    name: 'order-goes-on-in-a-paused-recovery',
    file: 'src/db/outbox/keep-ordering.ts',
    text: `(\${originalClass(sql, 'd')} = \${CLASS.fresh} and`,
    replacement: '(d.bulk is null and',
    symptom: 'Although a recovery is paused, one delivery of a record follows the other.',
    caughtBy: catchers(
      'test/db/outbox/claimed-at-write.test.ts',
      'the next of a record in a recovery waits for a claim, which a pause of the recovery prevents',
    ),
  },
  {
    name: 'order-of-one-statement-not-kept',
    file: 'src/db/outbox/events.ts',
    text: 'exists (select from fired g where g.entity_id = f.entity_id and g.sequence < f.sequence)',
    replacement: 'false',
    symptom: 'Of two events of one write the second may arrive first.',
    caughtBy: catchers(
      'test/db/outbox/claimed-at-write.test.ts',
      'an ordered webhook’s relay gets the first delivery of a record, then the next once that has ended',
    ),
  },
  {
    name: 'order-lost-at-a-claim',
    file: 'src/db/outbox/ordering.ts',
    text: `not w.active or exists (select \${predecessors(sql, place)})\n      or (`,
    replacement: 'not w.active\n      or (',
    symptom: 'Two events of a record are at their receiver at the same time.',
    caughtBy: catchers(
      'test/workflow/ordering.test.ts',
      'a blocked delivery waits while the head is at the receiver, and goes once it is delivered',
    ),
  },
];
