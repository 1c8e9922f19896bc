/**
 * One warning of a webhook's deactivation (docs/interface.md, W15): mailed even if the mail server is away for long.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import { setCurrentDetails } from '@temporalio/workflow';
import { mailOptions } from './delivery-options.ts';
import { ownSteps } from './own-steps.ts';
import {
  type WarningActivities,
  type WarningInput,
  type WarningResult,
  warningTitle,
} from './warning-types.ts';

const ENDS: Readonly<Record<WarningResult['outcome'], string>> = {
  mailed: 'Its e-shop was mailed.',
  dropped: 'Not mailed: there was nothing to warn of any more, or its e-shop wants no warnings.',
  refused: 'Not mailed: the mail server refused the mail permanently.',
  endedBefore: 'Had already ended; nothing was mailed.',
};

/** Sends it, once. */
export async function warnOfDeactivation(input: WarningInput): Promise<WarningResult> {
  const { mailWarning } = ownSteps<WarningActivities>(mailOptions(input));
  const result = await mailWarning(input.warningId);
  setCurrentDetails(`**${warningTitle(input)}**\n\n${ENDS[result.outcome]}`);
  return result;
}
