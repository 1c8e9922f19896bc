/** Descriptions shared by several kinds of record. */

/** The fields of an announcement that can be changed after arrival, as a sentence for the documentation. */
export function editableAfterArrival(changeable: readonly string[]): string {
  const fields = changeable.map((field) => `\`${field}\``).join(', ');
  return ` Once it has arrived, only ${fields} can be changed; anything else returns 409.`;
}

/**
 * Rules of the lines of an announcement, as items of a Markdown list.
 * @param entered the warehouse's entries, as the beginning of a sentence
 */
export function lineRules(field: string, entered: string): string {
  return `
- A line is identified by its \`sku\` and \`lot\`: a product may appear once per lot. Every \`sku\` must be a product of the e-shop, every \`quantity\` greater than 0.
- A line that an update of \`${field}\` leaves out stays, with \`lineState\` D; when it is sent again, it becomes E again. A line sent with \`lineState\` D counts as left out, so that a record can be sent back as it was read. ${entered} set by the warehouse and ignored in requests.`;
}

export const countRules = `
- An entry belongs to the enabled line with its \`sku\` and \`lot\`; failing that, if either of the two has no lot, to the next line with the \`sku\`, which then gets the known lot.
- Another lot of an announced product becomes a line of its own, with \`quantity\` 0. A product that was not announced is rejected.
- Lines without an entry stay as they are.`;
