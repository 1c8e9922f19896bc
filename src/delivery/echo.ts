/** Static headers in what a receiver answers: some echo their requests, and what they answer is kept. */
import { MASK } from '../domain/static-headers.ts';

/** Shorter ones are found by chance in any text. */
const MIN_LENGTH = 6;

/**
 * Makes what a receiver answered free of the values of the static headers that it was sent, and of the words in them.
 * @returns takes a text, whose end may have been cut off
 */
export function withoutEchoes(headers: Readonly<Record<string, string>>): (text: string) => string {
  const secrets = Object.values(headers)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), ...value.split(/\s+/)])
    .filter(({ length }) => length >= MIN_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  if (secrets.length === 0) return (text) => text;
  return (text) => {
    const whole = secrets.reduce((left, secret) => left.replaceAll(secret, MASK), text);
    const cut = secrets.map((secret) => cutOff(whole, secret)).find((length) => length > 0) ?? 0;
    return cut === 0 ? whole : `${whole.slice(0, -cut)}${MASK}`;
  };
}

/** How much of a secret begins at the end of a text. */
function cutOff(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= MIN_LENGTH; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}
