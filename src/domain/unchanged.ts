/** True if two values are the same JSON; identical objects are not compared any deeper. */
export function unchanged(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after);
}

/** The top-level fields that differ, in the order of the new record, then those that only the old one has. */
export function changedNames(before: object, after: object): string[] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...names].filter((name) => !unchanged(Reflect.get(before, name), Reflect.get(after, name)));
}
