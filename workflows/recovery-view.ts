/** The operator's view of a recovery in the Temporal UI. */
import { counted } from '../src/domain/text.ts';
import { literal } from './markdown.ts';
import type { RecoverWebhookInput, RecoveryProgress } from './recovery-types.ts';

/** A recovery in one line: "recovery of 20,000 events → webhook 7". */
export function recoveryTitle({
  found,
  webhookId,
}: Pick<RecoverWebhookInput, 'found' | 'webhookId'>): string {
  return `recovery of ${counted(found, 'event')} → webhook ${webhookId}`;
}

/** The events that a recovery delivers, as Markdown. */
export function recoveryDetails(input: RecoverWebhookInput): string {
  return [
    `**${recoveryTitle(input)}**`,
    '',
    `Events from ${input.since} until ${input.until} that are ${input.include.join(', ')} at the webhook and were not delivered since.`,
    '',
    'Each becomes a new delivery, with its own retries and its own workflow. They are created as the receiver takes them, and go behind fresh events.',
    '',
    'Pause and resume it with `waybill recoveries` or in the console. *Cancel* cancels it for the e-shop, too.',
  ].join('\n');
}

/** The progress of a recovery as Markdown. */
export function recoveryProgressDetails(input: RecoverWebhookInput, progress: RecoveryProgress): string {
  const { state, reason, done, failed, superseded, open, left, rate, estimatedEndAt } = progress;
  return [
    `**${recoveryTitle(input)}**`,
    '',
    `${state}${reason === null ? '' : `: ${literal(reason)}`}`,
    '',
    '| delivered | failed | superseded | open | left | per second | estimated end |',
    '|--:|--:|--:|--:|--:|--:|---|',
    `| ${done} | ${failed} | ${superseded} | ${open} | ${left} | ${rate === null ? '' : rate.toFixed(1)} | ${estimatedEndAt ?? ''} |`,
  ].join('\n');
}
