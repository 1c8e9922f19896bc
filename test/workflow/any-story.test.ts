/**
 * Whatever happens to deliveries, webhooks, receivers and workers, in any order: in the end every delivery has ended,
 * none was attempted too often, and each webhook that keeps an order got the requests of a record in it
 * (docs/interface.md, D16, D17). The order across webhooks: ordering.test.ts, and the fault group `order`.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordEvents } from '../../src/db/outbox/events.ts';
import { transaction } from '../../src/db/transaction.ts';
import { pauseWebhook, resumeWebhook } from '../../src/db/webhooks/pause.ts';
import { type ActionName, actionNames } from '../../src/domain/operator-action.ts';
import { maxAttempts } from '../../src/domain/retry-policy.ts';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { nightly } from '../support/runner/nightly.ts';

/** Of the webhooks of a story, all at one receiver. */
const ORDERINGS = ['none', 'record', 'latest', 'record'] as const;
const RECORDS = 3;

type Step =
  | { readonly kind: 'event'; readonly record: number }
  | { readonly kind: 'answer'; readonly nth: number; readonly status: number }
  | { readonly kind: 'active' | 'paused'; readonly nth: number; readonly on: boolean }
  | { readonly kind: 'move'; readonly nth: number }
  | { readonly kind: 'act'; readonly action: ActionName; readonly nth: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'wait'; readonly ms: number };

const nth = fc.nat(ORDERINGS.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('event'), record: fc.nat(RECORDS - 1) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('answer'), nth, status: fc.constantFrom(200, 503, 410) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('active', 'paused'), nth, on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move'), nth }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('act'),
      action: fc.constantFrom(...actionNames),
      nth: fc.nat(20),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat(150) }) },
);

const stack = await stackOfFile('any-story', { policy: { windowMs: 3_600_000 } });
const receiver = await receiverOfFile();
const { sql, client, eshopId, policy } = stack;
const request = createOperatorActions({ client, sql, policy });

const openDeliveries = () =>
  sql<{ id: string; held: boolean }[]>`
    select id, operator_stop = 'hold' as held from deliveries where state in ('pending', 'retrying') order by id`;

test('every delivery ends, and those of a record were attempted in order', {
  timeout: 3_600_000,
}, async () => {
  let stories = 0;
  async function play(steps: readonly Step[]): Promise<void> {
    stories += 1;
    await stack.retireWebhooks();
    const statuses = new Map<string, number>();
    receiver.respond(({ path }) => ({ status: statuses.get(path.split('/')[2] ?? '') ?? 200 }));
    const webhooks: number[] = [];
    for (const [index, ordering] of ORDERINGS.entries()) {
      const { id } = await stack.createWebhook(`${receiver.url}/${stories}/${index}`, { ordering });
      webhooks.push(id);
    }
    const from = receiver.requests.length;
    const sequences = Array.from({ length: RECORDS }, () => 0);
    const entityId = (record: number) => `${stories} ${record}`;

    async function take(next: Step): Promise<void> {
      const webhook = ('nth' in next ? webhooks[next.nth] : undefined) ?? 0;
      switch (next.kind) {
        case 'event': {
          const sequence = (sequences[next.record] ?? 0) + 1;
          sequences[next.record] = sequence;
          const event = {
            type: 'CREATE_ORDER',
            entityId: entityId(next.record),
            sequence,
            snapshot: '{}',
          } as const;
          await transaction(sql, (tx) =>
            recordEvents(tx, eshopId, [{ ...event, happenedAt: null, origin: 'service', changed: null }]),
          );
          return;
        }
        case 'answer':
          statuses.set(String(next.nth), next.status);
          return;
        case 'active':
          return await stack.changeWebhook(webhook, { active: next.on });
        case 'paused':
          // Refused while it is inactive.
          if (next.on) await pauseWebhook(sql, eshopId, webhook, null).catch(() => {});
          else await resumeWebhook(sql, eshopId, webhook).catch(() => {});
          return;
        case 'move':
          return await stack.changeWebhook(webhook, { url: `${receiver.url}/${stories}/${next.nth}/moved` });
        case 'act': {
          const open = await openDeliveries();
          const id = open[next.nth % Math.max(1, open.length)]?.id;
          // An action may come too late.
          if (id !== undefined) await request(next.action, id, { by: 'anna', reason: '' });
          return;
        }
        case 'restart':
          await stack.stopWorker();
          return await stack.startWorker();
        case 'wait':
          await new Promise((resolve) => setTimeout(resolve, next.ms));
      }
    }
    for (const next of steps) await take(next);

    statuses.clear();
    await stack.until('the end of all deliveries', async () => {
      // Attempts under way may deactivate a webhook even now.
      for (const webhook of webhooks) {
        await stack.changeWebhook(webhook, { active: true });
        await resumeWebhook(sql, eshopId, webhook).catch(() => {});
      }
      const open = await openDeliveries();
      for (const { id, held } of open) if (held) await request('resume', id, { by: 'anna', reason: '' });
      return open.length === 0;
    });

    const made = await sql<
      { id: string; webhookId: number; entityId: string; sequence: number; numbers: number[] }[]
    >`
      select d.id, d.webhook_id, d.entity_id, d.sequence::int as sequence,
        array(select number from attempts a where a.delivery_id = d.id order by number) as numbers
      from deliveries d where d.webhook_id = any(${webhooks}::int[])`;
    for (const { numbers } of made) expect(numbers.length).toBeLessThanOrEqual(maxAttempts(policy));
    const ids = receiver.requests.slice(from).map(({ headers }) => String(headers['x-service-delivery']));
    for (const [index, ordering] of ORDERINGS.entries()) {
      if (ordering === 'none') continue;
      for (let record = 0; record < RECORDS; record += 1) {
        const mine = made.filter(
          (one) => one.webhookId === webhooks[index] && one.entityId === entityId(record),
        );
        const begun = mine
          .filter(({ id }) => ids.includes(id))
          .toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
          .map(({ sequence }) => sequence);
        expect(begun).toEqual(begun.toSorted((one, other) => one - other));
      }
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), play), {
    endOnFailure: true,
    ...(nightly ? { numRuns: 60 } : { numRuns: 2, seed: 7 }),
  });
});
