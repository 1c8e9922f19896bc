import { UserError } from '../lib/user-error.ts';

/** No worker has answered in time: what was asked may still be done. */
export class Unanswered extends UserError {
  override readonly name = 'Unanswered';
}
