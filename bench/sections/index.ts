/** The sections of the bench, in the order of the table. */
import { calm } from './calm.ts';
import { importing } from './import.ts';
import { neighbors } from './neighbors.ts';
import { restart } from './restart.ts';
import { rush } from './rush.ts';
import type { Section } from './section.ts';

export const sections: readonly Section[] = [calm, rush, importing, neighbors, restart];
