/**
 * Words in sentences about records.
 * @module
 */

/** "Order" for "order". */
export function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** "an order" for "order". */
export function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** What can be changed of something announced that has arrived, as a sentence for the documentation. */
export function lateOnArrival(changeable: readonly string[]): string {
  const fields = changeable.map((field) => `\`${field}\``).join(', ');
  return ` Once it has arrived only ${fields} can be changed (else 409).`;
}
