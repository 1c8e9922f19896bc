/** Limits under which every attempt begins at once. */
import { compensationTurns } from '../../src/attempt/compensate.ts';
import { createLimits, type Limits, type Permit } from '../../src/concurrency/limits.ts';
import { type SchedulerOptions, schedulerDefaults } from '../../src/concurrency/settings.ts';

const permit: Permit = { release() {}, lookupsFull: () => ({ ms: 1, ofReceiver: false }) };
const ANY = 2 ** 31 - 1;

export const boundless: Limits = {
  acquire: async (_, signal) => (signal?.aborted === true ? undefined : permit),
  open: () => 0,
  hanging: () => 0,
  quotas: () => ({ eshop: ANY, webhook: ANY, eshops: new Map(), webhooks: new Map() }),
};

/** The state that attempts share with a relay, for tests without one. */
export const alone = () => ({
  limits: boundless,
  isDiskFull: () => false,
  underWay: new Set<string>(),
  compensations: compensationTurns(),
});

export const limitsWith = (some: Partial<SchedulerOptions>) =>
  createLimits({ ...schedulerDefaults, ...some });
