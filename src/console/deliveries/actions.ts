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

/** As `askedBy` marks a user of the e-shop. */
const OF_THE_ESHOP = ' (e-shop)';

/** Who asked for an action, as the viewer may know it: an e-shop learns no account of the warehouse. */
export function whoAsked(by: string, viewer: Role): string {
  return viewer === 'warehouse' || by.endsWith(OF_THE_ESHOP) ? by : 'the warehouse';
}

/** Whether any action is possible. */
export function isUnderWay(state: DeliveryState): boolean {
  return state === 'held' || isOpen(state);
}

/** The fields of the form. */
export const ActionForm = v.object({
  action: v.picklist(actionNames),
  // The reason is logged, and printed for operators. `ownForms` bounds its length.
  reason: v.pipe(v.optional(v.string(), ''), v.transform(oneLine)),
});
