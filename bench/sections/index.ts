/** The sections of the bench, in the order of the table. */
import { before } from './before.ts';
import { calm } from './calm.ts';
import { withoutControls } from './controls.ts';
import { growth } from './growth.ts';
import { hosts } from './hosts.ts';
import { importing } from './import.ts';
import { memory } from './memory.ts';
import { neighbours } from './neighbours.ts';
import { order } from './ordering.ts';
import { pooler } from './pooler.ts';
import { receivers } from './receivers.ts';
import { recovery } from './recovery.ts';
import { restart } from './restart.ts';
import { rush } from './rush.ts';
import type { Section } from './section.ts';

export const sections: readonly Section[] = [
  before,
  calm,
  rush,
  receivers,
  importing,
  neighbours,
  hosts,
  order,
  recovery,
  restart,
  growth,
  memory,
  pooler,
  withoutControls,
];
