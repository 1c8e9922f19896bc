/**
 * The sections of the bench, in the order of the table.
 * @module
 */
import { calm } from './calm.ts';
import { rush } from './rush.ts';
import type { Section } from './section.ts';

export const sections: readonly Section[] = [calm, rush];
