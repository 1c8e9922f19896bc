import type { DeliveryWatch } from '../../src/attempt/watch.ts';

/** A listener that ignores every report. */
export const unwatched: DeliveryWatch = {
  attempted() {},
  interrupted() {},
  ended() {},
  deactivated() {},
  alarmed() {},
};
