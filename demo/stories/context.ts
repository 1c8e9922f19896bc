/** The data that every story needs. */
import type { ShipperCatalogue } from '../../src/domain/shipper-services.ts';
import type { Random } from '../random.ts';

/** The day that a story belongs to. */
export interface Day {
  /** Prefix of every identifier of the run, so that a day can be played again on the same instance. */
  readonly prefix: string;
  readonly random: Random;
  /** The carriers of the instance. */
  readonly shippers: ShipperCatalogue;
}

const DAY_MS = 86_400_000;

/** A time the given number of days away, in the API's format. */
export function inDays(now: Date, days: number): string {
  return new Date(now.getTime() + days * DAY_MS).toISOString();
}

/** An identifier of this run. @example idOf(day, 'O', 7) // 'MI8K2Z-O-7' */
export function idOf({ prefix }: Day, ...parts: readonly (string | number)[]): string {
  return [prefix, ...parts].join('-');
}
