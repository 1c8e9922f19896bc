/** All faults. */
import type { EmbeddedFault, Fault } from '../fault.ts';
import { clockFaults } from './clock.ts';
import { databaseClockFaults } from './database-clock.ts';
import { diskFaults } from './disk.ts';
import { embeddedFaults } from './embedded.ts';
import { idempotencyFaults } from './idempotency.ts';
import { killFaults } from './kill.ts';
import { linkFaults } from './link.ts';
import { mailFaults } from './mail.ts';
import { momentFaults } from './moments.ts';
import { movingFaults } from './moving.ts';
import { nameFaults } from './names.ts';
import { operatorFaults } from './operator.ts';
import { orderFaults } from './ordering.ts';
import { otherSessionFaults } from './other-sessions.ts';
import { pauseFaults } from './pause.ts';
import { pollFaults } from './polls.ts';
import { poolerFaults } from './pooler.ts';
import { postgresFaults } from './postgres.ts';
import { receiverFaults } from './receiver.ts';
import { recoveryFaults } from './recovery.ts';
import { remoteFaults } from './remote.ts';
import { settingFaults } from './settings.ts';
import { standbyFaults } from './standby.ts';
import { stopFaults } from './stop.ts';
import { temporalFaults } from './temporal.ts';

/** In the order of their groups. */
export const faults: readonly (Fault | EmbeddedFault)[] = [
  ...killFaults,
  ...embeddedFaults,
  ...momentFaults,
  ...linkFaults,
  ...postgresFaults,
  ...otherSessionFaults,
  ...diskFaults,
  ...poolerFaults,
  ...standbyFaults,
  ...settingFaults,
  ...remoteFaults,
  ...temporalFaults,
  ...pollFaults,
  ...operatorFaults,
  ...recoveryFaults,
  ...pauseFaults,
  ...receiverFaults,
  ...nameFaults,
  ...movingFaults,
  ...idempotencyFaults,
  ...orderFaults,
  ...mailFaults,
  ...clockFaults,
  ...databaseClockFaults,
  ...stopFaults,
];
