/** Refusals are in our words wherever the problem is in a body, never in those of the validation library. */
import { expect, test } from 'vitest';
import { exampleBody, operationsWithBody } from '../../src/api/openapi/example-requests.ts';
import { isObject } from '../../src/domain/validation.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();

/** Valibot's own messages: "Invalid type: Expected Object but received 7". */
const LIBRARY = /Invalid \w+:|Expected .* but received/;

/** Bodies with the wrong value in place of the whole, of all fields, of all fields of one of these, and so on. */
function* variants(node: unknown, wrong: unknown): Generator<unknown> {
  yield wrong;
  if (Array.isArray(node)) for (const each of variants(node[0], wrong)) yield [each];
  if (!isObject(node)) return;
  yield Object.fromEntries(Object.keys(node).map((name) => [name, wrong]));
  for (const [name, inner] of Object.entries(node)) {
    if (typeof inner !== 'object' || inner === null) continue;
    for (const each of variants(inner, wrong)) yield { ...node, [name]: each };
  }
}

test.each(operationsWithBody)('%s refuses wrong values in our own words', async (key) => {
  const [method = '', path = ''] = key.split(' ');
  const example = exampleBody(key);
  const imports = path.endsWith('/import');
  const request = path.includes('/warehouse/') ? api.warehouse : api.shop;
  const to = path.replaceAll(/\{\w+\}/g, '1');
  let refused = 0;
  for (const wrong of ['x', '', 'x'.repeat(5_000), 7, -1.5, 1e300, true, null, [], ['x'], {}, { x: 1 }]) {
    for (const body of variants(example, wrong)) {
      const sent = JSON.stringify(body);
      const answer = await request(
        method,
        to,
        sent,
        imports ? { 'content-type': 'application/x-ndjson' } : {},
      );
      expect(answer.status, sent).toBeLessThan(500);
      expect(answer.text, sent).not.toMatch(LIBRARY);
      if (answer.status === 400 || imports) refused += 1;
    }
  }
  expect(refused).toBeGreaterThanOrEqual(10);
});
