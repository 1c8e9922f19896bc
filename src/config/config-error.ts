import { UserError } from '../lib/user-error.ts';

/** An invalid setting: one sentence that names the variable. */
export class ConfigError extends UserError {
  override readonly name = 'ConfigError';
}
