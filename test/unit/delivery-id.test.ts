import { expect, test } from 'vitest';
import { deliveryIdOf, deliveryWorkflowId } from '../../workflows/delivery-id.ts';

const id = '01a1fb49-91ad-7462-92f5-c93b78f95301';
const named = (entityId: string) =>
  deliveryWorkflowId({ id, webhookId: 7, eventType: 'CREATE_ORDER', entityId });

test.each([
  ['10001', '10001'],
  ['2026/10001 a', '2026%2F10001%20a'],
  ['žluť', '%C5%BElu%C5%A5'],
  ["O'Neill%20", 'O%27Neill%2520'],
  ['"\\?#&', '%22%5C%3F%23%26'],
  ['a\ud83d\udce6', 'a%F0%9F%93%A6'],
  ['half a pair \ud83d', 'half%20a%20pair%20%EF%BF%BD'],
  ['..', '..'],
])('the workflow id of order %j shows it readably', (entityId, shown) => {
  expect(named(entityId)).toBe(`delivery/7/CREATE_ORDER/${shown}/${id}`);
});

test.each(['x'.repeat(64), '日'.repeat(64), '\ud83d\udce6'.repeat(32), 'x'.repeat(5_000)])(
  "a workflow id with a long entity id fits Temporal's limit, and gives its delivery",
  (entityId) => {
    const workflowId = deliveryWorkflowId({
      id,
      webhookId: 2_147_483_647,
      eventType: 'CREATE_STOCK_MOVEMENT_QUALITY_HOLD',
      entityId,
    });
    expect(workflowId.length).toBeLessThanOrEqual(255);
    expect(deliveryIdOf(workflowId)).toBe(id);
    // Cut only between characters.
    expect(entityId).toContain(decodeURIComponent(workflowId.split('/')[3] ?? ''));
  },
);

test("only a delivery's workflow id gives a delivery id", () => {
  expect(deliveryIdOf(named('a/b'))).toBe(id);
  expect(deliveryIdOf(`recovery/${id}`)).toBeNull();
});
