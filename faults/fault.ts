/** Faults, and the scene they are injected into. */
import type { Random } from '../demo/random.ts';
import type { PoolMode } from '../test/support/servers/pooler.ts';
import type { InjectionPoint } from './injection-point.ts';
import type { Logbook } from './logbook.ts';
import type { MachineWatch } from './machine.ts';
import type { OrderedSize } from './ordered-size.ts';
import type { PolicyName } from './policies.ts';
import type { Receivers } from './receivers.ts';
import type { Shop } from './shop.ts';
import type { EmbeddedStack } from './stack/embedded.ts';
import type { BasicStack, Stack } from './stack/stack.ts';

/** All groups, in the order of the table. */
export const groupNames = [
  'kill',
  'link',
  'accept then close',
  'postgres',
  'other sessions',
  'disk full',
  'pooler',
  'standby',
  'role and database settings',
  'remote',
  'temporal',
  'polls refused',
  'operator',
  'recovery',
  'pause',
  'receiver',
  'moving receivers',
  'idempotency',
  'order',
  'mail',
  'clock',
  'database clock',
  'stop',
] as const;
/** The name of a group. */
export type GroupName = (typeof groupNames)[number];

/** Everything in one round. */
export interface Scene<S extends BasicStack = Stack> {
  readonly stack: S;
  readonly random: Random;
  readonly shop: Shop;
  readonly receivers: Receivers;
  /** What the round must deliver; a fault adds its own changes. */
  readonly logbook: Logbook;
  /** How busy the machine is, for waits of the round. */
  readonly machine: MachineWatch;
  readonly ordered: OrderedSize;
  /** The number of kills in a round that kills at every moment. */
  readonly kills: number;
}

/** One fault. */
export interface Fault<S extends BasicStack = Stack> {
  readonly group: GroupName;
  readonly name: string;
  /** The policies under which it has an effect; the seed chooses. */
  readonly policies: readonly PolicyName[];
  /** Where it may be injected; the seed chooses. Default: while the orders are sent. */
  readonly injectionPoints?: readonly InjectionPoint[];
  /** Waybill is stopped gracefully: nothing may be repeated. */
  readonly graceful?: boolean;
  /** Waybill must not notice it: as if there were no fault, nothing may be late or repeated. */
  readonly harmless?: boolean;
  /** How long it lasts, in milliseconds, at least and at most. Default: no time at all. */
  readonly lasts?: readonly [number, number];
  /** Waybill reaches Postgres through a pooler in this mode. */
  readonly pooler?: PoolMode;
  /** The clock of Postgres is set, which needs a library. */
  readonly databaseClock?: boolean;
  /** Before the first order: opens its own receivers, or changes something for the whole round. */
  prepare?(scene: Scene<S>): Promise<void>;
  inject?(scene: Scene<S>): Promise<void>;
  /** Brings everything back; Waybill's processes serve again when it resolves. */
  heal?(scene: Scene<S>): Promise<void>;
  /** Once every delivery has ended: waits for all else that must end, and enters complaints into the logbook. */
  settle?(scene: Scene<S>): Promise<void>;
  /** Once everything has ended. */
  finish?(scene: Scene<S>): Promise<void>;
}

/** Of most faults. */
export const usual: Required<Pick<Fault, 'policies' | 'injectionPoints'>> = {
  policies: ['scaled', 'hours'],
  injectionPoints: ['orders', 'slow', 1, 19, 20],
};

/** A fault injected into Waybill with embedded servers. */
export interface EmbeddedFault extends Fault<EmbeddedStack> {
  readonly embedded: true;
  /** Its data are on a disk of their own, small enough to be filled, which needs the right to mount one. */
  readonly smallDisk?: boolean;
}
