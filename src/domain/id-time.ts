/** The time in a UUIDv7: identifiers of events and deliveries begin with the millisecond in which they were made. */

/**
 * The lowest identifier of a time; before 1970 the lowest of all.
 * @example idAt(new Date('2026-11-23')) // '01a205b3-d000-0000-0000-000000000000'
 */
export function idAt(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

export function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

/** The identifier just before another. */
export function idBefore(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
