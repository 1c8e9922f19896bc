/** The rounds of a seed. A round follows from (seed, index) alone, regardless of the others. */

import { randomFrom } from '../demo/random.ts';
import { type Setting, settings } from '../test/support/harness/settings.ts';
import type { EmbeddedFault, Fault } from './fault.ts';
import { faults } from './groups/index.ts';
import type { InjectionPoint } from './injection-point.ts';
import { type PolicyName, soonestOf } from './policies.ts';

/** A round to play. */
export interface Round {
  readonly seed: string;
  readonly index: number;
  readonly fault: Fault | EmbeddedFault;
  readonly policy: PolicyName;
  /** Whether to use the fault's policy whose rounds end soonest, instead of the seed's choice. */
  readonly brief: boolean;
  readonly injectionPoint: InjectionPoint;
  /** How long the fault lasts, in milliseconds. */
  readonly lastsMs: number;
  readonly orders: number;
  readonly workflows: Setting;
  /** The orders that come all at once, at the beginning: too many to start each workflow at once. */
  readonly burst: number;
}

const BURST = 40;

/** The value of WORKFLOWS whose turn it is. */
export function turnOf(index: number): Setting {
  return settings[index % settings.length] ?? 'all';
}

/**
 * The round of this index; each fault comes once before any comes again.
 * @param brief whether to use the fault's policy whose rounds end soonest
 */
export function roundOf(seed: string, index: number, workflows: Setting, brief: boolean): Round {
  const deck = randomFrom(seed).some(faults, faults.length);
  const fault = deck[index % deck.length];
  if (fault === undefined) throw new Error('There are no faults.');
  const random = randomFrom(`${seed}/${index}`);
  const picked = random.pick(fault.policies);
  const policy = (brief && soonestOf(fault.policies)) || picked;
  // Only under policies with many attempts does the receiver that always fails get the later ones.
  const many = policy === 'scaled' || policy === 'tight';
  const { injectionPoints: anywhere = [], lasts: [least, most] = [0, 0] } = fault;
  const injectionPoints = anywhere.filter((injectionPoint) => typeof injectionPoint !== 'number' || many);
  return {
    seed,
    index,
    fault,
    policy,
    brief,
    injectionPoint: injectionPoints.length === 0 ? 'orders' : random.pick(injectionPoints),
    lastsMs: random.integer(least, most),
    orders: random.integer(6, 12),
    workflows,
    burst: BURST,
  };
}

/**
 * The first `count` rounds.
 * @param workflows the setting of all rounds; `turns`: in turns
 * @param only names of groups or of faults: rounds of others are left out but keep their indexes
 */
export function roundsOf(
  seed: string,
  count: number,
  workflows: Setting | 'turns',
  only: readonly string[] | undefined,
  brief: boolean,
): Round[] {
  const wanted = ({ group, name }: Pick<Fault, 'group' | 'name'>) =>
    only === undefined || only.includes(group) || only.includes(name);
  const unknown = only?.find((each) => !faults.some(({ group, name }) => group === each || name === each));
  if (unknown !== undefined) throw new Error(`There is no group or fault "${unknown}".`);
  const rounds: Round[] = [];
  for (let index = 0; rounds.length < count; index += 1) {
    const setting = workflows === 'turns' ? turnOf(rounds.length) : workflows;
    const round = roundOf(seed, index, setting, brief);
    if (wanted(round.fault)) rounds.push(round);
  }
  return rounds;
}

/** The command to replay a round. */
export function replayCommand({ seed, index, workflows, brief }: Round): string {
  const how = `--workflows ${workflows}${brief ? ' --brief' : ''}`;
  return `npm run faults -- --seed ${seed} --round ${index} ${how}`;
}
