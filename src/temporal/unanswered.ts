import { UserError } from '../lib/user-error.ts';

/** No worker has answered in time: the action may still be carried out. */
export class Unanswered extends UserError {
  override readonly name = 'Unanswered';
}
