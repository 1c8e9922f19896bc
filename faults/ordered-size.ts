/** The size of a round of the group `order`. */
import { InvalidArgumentError } from 'commander';

export interface OrderedSize {
  readonly records: number;
  /** The events of each record, including its creation. */
  readonly events: number;
}

export const defaultOrdered: OrderedSize = { records: 20, events: 10 };

/** "100x20". @throws InvalidArgumentError */
export function orderedSize(text: string): OrderedSize {
  const [, records, events] = (/^([1-9]\d{0,3})x([1-9]\d{0,2})$/.exec(text) ?? []).map(Number);
  if (records === undefined || events === undefined)
    throw new InvalidArgumentError('it is a size such as 100x20.');
  return { records, events };
}
