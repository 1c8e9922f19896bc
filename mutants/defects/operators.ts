/** What operators ask of a delivery. */
import type { Defect } from '../defect.ts';

const kept = (...tests: string[]) => [{ file: 'test/workflow/operator-updates-kept.test.ts', tests }];
const asked = (...tests: string[]) => [{ file: 'test/workflow/operator-updates.test.ts', tests }];
const recorded = (...tests: string[]) => [{ file: 'test/db/delivery-records.test.ts', tests }];

export const operatorDefects: readonly Defect[] = [
  {
    name: 'operator-hold-only-in-memory',
    file: 'src/attempt/situation.ts',
    text: 'operator: operatorHoldOf(delivery.operatorStop, delivery.operatorActions),',
    replacement: 'operator: null,',
    noticed: 'A delivery that an operator holds is tried again and again to no end, and never ends.',
    caughtBy: kept('its history lost while it was held: started again, and still held'),
  },
  {
    name: 'operator-order-done-twice',
    file: 'src/db/webhooks/operator-actions.ts',
    text: 'before.find(({ id }) => id === asked.id)',
    replacement: 'before.find(() => false)',
    noticed: 'A workflow that is reset makes the attempt once more that an operator had ordered before.',
    caughtBy: recorded(
      'what an operator asks is done once, also when its step is repeated, and the latest fifty are kept',
    ),
  },
  {
    name: 'operator-give-up-deactivates',
    file: 'workflows/next-step.ts',
    text: "if (stop === 'giveUp') return",
    replacement: "if (stop === 'giveUp' && situation.spent === null) return",
    noticed:
      'An operator gives a delivery up during its last attempt, and its webhook is deactivated all the same.',
    caughtBy: asked('the last attempt under way can be given up, but not be held'),
  },
  {
    name: 'operator-not-now-but-when-due',
    file: 'src/db/webhooks/operator-actions.ts',
    text: 'then clock_timestamp() else next_attempt_at end',
    replacement: 'then next_attempt_at else next_attempt_at end',
    noticed: 'tryNow answers that an attempt follows at once, and none does.',
    caughtBy: asked('tryNow in a ten-minute wait: the next attempt at once, under the next number'),
  },
  {
    name: 'operator-hold-slips',
    file: 'src/db/webhooks/attempts.ts',
    text: "('pending', 'retrying') and d.operator_stop is null and ",
    replacement: "('pending', 'retrying') and ",
    noticed: 'A request leaves after an operator was told that none does.',
    caughtBy: recorded('no attempt begins of a delivery that an operator has stopped since it was read'),
  },
];
