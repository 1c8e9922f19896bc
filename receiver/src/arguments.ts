/** The arguments of a command. */

/** A mistake in the command line, as a sentence. */
export class Mistake extends Error {}

/** @throws Mistake */
export function oneOf<const T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw new Mistake(`--${name} must be ${allowed.join(' or ')}.`);
  return found;
}

/** @throws Mistake */
export function positive(name: string, value: string): number {
  if (!/^\d{1,9}$/.test(value) || Number(value) === 0)
    throw new Mistake(`--${name} must be a number from 1 on.`);
  return Number(value);
}

/** Headers of the form `Name: value`. @throws Mistake */
export function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new Mistake(`--header must be of the form 'Name: value'.`);
      return [name.toLowerCase(), value];
    }),
  );
}

/** An `http` or `https` URL. @throws Mistake with `what` */
export function urlOf(value: string | undefined, what: string): string {
  if (value === undefined || !/^https?:\/\//i.test(value) || !URL.canParse(value)) throw new Mistake(what);
  return value;
}
