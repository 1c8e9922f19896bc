/**
 * Warnings that webhooks will be deactivated: decided, and their workflows started. Nobody else looks after these: one whose mail
 * is owed is started again until it is mailed.
 */
import type { Logger } from 'pino';
import { decideWarnings, hasFailures, type WarningTerms } from '../db/incidents/decide.ts';
import { claimWarnings, releaseWarnings } from '../db/incidents/warnings.ts';
import type { Pool } from '../db/pool.ts';
import type { WarningStarter } from '../temporal/start-warning.ts';
import type { Next } from './loop.ts';
import { passOn } from './pass-on.ts';

/** What warnings take. */
export interface WarningsDeps {
  readonly sql: Pool;
  readonly log: Logger;
  readonly warnings: WarningStarter;
  /** null: nobody is warned. */
  readonly warningTerms: WarningTerms | null;
  /** Aborted when the relay is being stopped. */
  readonly stopping: AbortSignal;
}

/**
 * Decides whom to warn, and starts what is owed.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export async function dispatchWarnings({
  sql,
  log,
  warnings,
  warningTerms,
  stopping,
}: WarningsDeps): Promise<Next> {
  const decided = (await hasFailures(sql)) ? await decideWarnings(sql, warningTerms) : 0;
  if (decided > 0) log.info({ decided }, 'warnings decided');
  return await passOn({
    stopping,
    claim: (limit) => claimWarnings(sql, limit),
    release: (ids) => releaseWarnings(sql, ids),
    tell: (warning) => warnings.startWarning(warning),
    refused: ({ id: warningId }, err) => log.error({ warningId, err }, 'Temporal refused to start a warning'),
  });
}
