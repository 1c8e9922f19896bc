/** The actions on an open delivery. */
import * as v from 'valibot';
import { NO_TEMPORAL } from '../../api/deliveries/actions.ts';
import { type DeliveryState, isOpen } from '../../domain/delivery-state.ts';
import { type ActionName, actionNames, type RequestAction } from '../../domain/operator-action.ts';
import { badRequest, forbidden, Problem } from '../../domain/problem.ts';
import type { Role } from '../../domain/role.ts';
import { oneLine } from '../../domain/text.ts';

/** The label of an action's button, and the words for what its requester did. */
export const ACTION_TEXTS: Readonly<Record<ActionName, readonly [label: string, done: string]>> = {
  tryNow: ['Try now', 'asked for an attempt'],
  hold: ['Hold', 'held it'],
  resume: ['Resume', 'resumed it'],
  giveUp: ['Give up', 'gave it up'],
};

/** The actions that a role may request: holding and resuming are for the warehouse. */
export function actionsOf(role: Role): readonly ActionName[] {
  return role === 'warehouse' ? actionNames : ['tryNow', 'giveUp'];
}

/** The mark that `askedBy` adds to a user of the e-shop. */
const OF_THE_ESHOP = ' (e-shop)';

/** Who requested an action, as far as the viewer may know: an e-shop never sees an account of the warehouse. */
export function whoAsked(by: string, viewer: Role): string {
  return viewer === 'warehouse' || by.endsWith(OF_THE_ESHOP) ? by : 'the warehouse';
}

/** Whether any action is possible. */
export function isUnderWay(state: DeliveryState): boolean {
  return state === 'held' || isOpen(state);
}

const ActionForm = v.object({
  action: v.picklist(actionNames, 'There is no such action.'),
  // The reason is logged, and printed for operators. `ownForms` bounds its length.
  reason: v.pipe(v.optional(v.string(), ''), v.transform(oneLine)),
});

/** The action that a form requests. @throws Problem with the reason if it cannot be requested */
export function requestedIn(form: object, role: Role, requestAction: RequestAction | null) {
  if (requestAction === null) throw new Problem(503, NO_TEMPORAL);
  const asked = v.safeParse(ActionForm, form);
  if (!asked.success) throw badRequest(asked.issues[0].message);
  if (!actionsOf(role).includes(asked.output.action))
    throw forbidden('Only a user of the warehouse can do this.');
  return { ...asked.output, requestAction };
}
