/**
 * All defects that are planted. Each survived the tests once, or stands for a guard that nothing else protects.
 * @module
 */
import type { Defect } from './defect.ts';
import { orderDefects } from './defects/orders.ts';
import { relayDefects } from './defects/relay.ts';
import { wireDefects } from './defects/wire.ts';

export const defects: readonly Defect[] = [...relayDefects, ...wireDefects, ...orderDefects];
