/**
 * Every sentence of the OpenAPI document, put together from its parts, as a list: whoever adds or changes one reads it
 * there once more. `npm run sentences` writes the list again.
 */
import { expect, test } from 'vitest';
import { createTestApi } from '../support/api.ts';
import { linesOf } from '../support/sentences.ts';

/** The fields that are meant for people. */
const TOLD = ['title', 'summary', 'description'];

function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' && TOLD.includes(name) ? [inner] : textsIn(inner),
  );
}

test('the sentences of the OpenAPI document are those of the list', async () => {
  const api = await createTestApi();
  try {
    const { text } = await api.anonymous('GET', '/openapi.json');
    const lines = [...new Set(textsIn(JSON.parse(text)).flatMap(linesOf))].sort();
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('openapi-sentences.txt');
  } finally {
    await api.drop();
  }
});
