/** Values for options of the measuring programs: numbers, checked while the command line is parsed. */
import { InvalidArgumentError } from 'commander';

/** A number above zero, such as a rate. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError('must be a number above 0.');
  return value;
}

/** A whole number above zero: how many, how long. */
export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('must be a whole number above 0.');
  return value;
}

/** A whole number from zero on: an index, a tolerance. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0)
    throw new InvalidArgumentError('must be a whole number.');
  return value;
}
