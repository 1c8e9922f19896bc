/**
 * Everything a history says, with its payloads spelled out: for tests that look for what must not be in it.
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
