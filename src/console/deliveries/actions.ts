/** What the warehouse can ask of a delivery under way, as buttons name it. */
import * as v from 'valibot';
import { type DeliveryState, isOpen } from '../../domain/delivery-state.ts';
import { type ActionName, actionNames, MAX_REASON_CHARS } from '../../domain/operator-action.ts';
import type { Role } from '../../domain/role.ts';
import { oneLine } from '../../domain/words.ts';

/** In the order of the buttons; giving up, which is asked about first, follows. */
export const ACTIONS: readonly (readonly [Exclude<ActionName, 'giveUp'>, string])[] = [
  ['tryNow', 'Try now'],
  ['hold', 'Hold'],
  ['resume', 'Resume'],
];

/** What who has this role may ask of a delivery: holding is for whoever runs the warehouse. */
export function actionsOf(role: Role): readonly ActionName[] {
  return role === 'warehouse' ? actionNames : ['tryNow', 'giveUp'];
}

/** Whether there is anything to be asked of it. */
export function isUnderWay(state: DeliveryState): boolean {
  return state === 'held' || isOpen(state);
}

/** What its form sends. */
export const ActionForm = v.object({
  action: v.picklist(actionNames),
  // It is logged, and printed for operators.
  reason: v.pipe(v.string(), v.maxLength(MAX_REASON_CHARS), v.transform(oneLine)),
});
