/**
 * Decides warnings of deactivations and starts their workflows. The reconciler does not cover these: a warning is started again until
 * its mail is sent.
 */
import { decideWarnings } from '../db/incidents/decide.ts';
import { claimWarnings, giveBackWarnings } from '../db/incidents/warnings.ts';
import { warningTimes } from '../domain/incident.ts';
import type { RelayDeps } from './deps.ts';
import type { Next } from './loop.ts';
import { passOn } from './pass-on.ts';

/**
 * Decides whom to warn, and starts the warnings that are owed.
 * @throws the error of Temporal or the database when it is away; the rest is given back
 */
export async function dispatchWarnings({
  sql,
  log,
  warnings,
  policy,
  stopping,
  onAnswered,
}: Pick<RelayDeps, 'sql' | 'log' | 'warnings' | 'policy' | 'stopping' | 'onAnswered'>): Promise<Next> {
  const decided = await decideWarnings(sql, warningTimes(policy));
  if (decided > 0) log.info({ decided }, 'warnings decided');
  return await passOn({
    stopping,
    onAnswered,
    claim: (limit) => claimWarnings(sql, limit),
    giveBack: (ids) => giveBackWarnings(sql, ids),
    call: (warning) => warnings.startWarning(warning),
    refused: ({ id: warningId }, err) => log.error({ warningId, err }, 'Temporal refused to start a warning'),
  });
}
