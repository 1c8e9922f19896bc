/**
 * A whole history as text, payloads decoded: for tests that look for things that must not be in it.
 */
export function historyText(history: object): string {
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('utf8'));
    else if (typeof value === 'string' || typeof value === 'number') texts.push(String(value));
    else if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) visit(inner);
  };
  visit(history);
  return texts.join('\n');
}
