/** The actions on an open delivery, with the labels of their buttons. */
import * as v from 'valibot';
import { type DeliveryState, isOpen } from '../../domain/delivery-state.ts';
import { type ActionName, actionNames } from '../../domain/operator-action.ts';
import type { Role } from '../../domain/role.ts';
import { oneLine } from '../../domain/text.ts';

/** In the order of the buttons; giving up, which needs a confirmation, follows. */
export const ACTIONS: readonly (readonly [Exclude<ActionName, 'giveUp'>, string])[] = [
  ['tryNow', 'Try now'],
  ['hold', 'Hold'],
  ['resume', 'Resume'],
];

/** The actions that a role may request: holding and resuming are for the warehouse. */
export function actionsOf(role: Role): readonly ActionName[] {
  return role === 'warehouse' ? actionNames : ['tryNow', 'giveUp'];
}

/** Whether any action is possible. */
export function isUnderWay(state: DeliveryState): boolean {
  return state === 'held' || isOpen(state);
}

/** The fields of the form. */
export const ActionForm = v.object({
  action: v.picklist(actionNames),
  // The reason is logged, and printed for operators. `ownForms` bounds its length.
  reason: v.pipe(v.string(), v.transform(oneLine)),
});
