/**
 * Sentences that the documentation of several kinds of record has.
 * @module
 */

/** What can be changed of something announced that has arrived, as a sentence for the documentation. */
export function lateOnArrival(changeable: readonly string[]): string {
  const fields = changeable.map((field) => `\`${field}\``).join(', ');
  return ` Once it has arrived, only ${fields} can be changed; anything else returns 409.`;
}
