/** Checks that a webhook is deactivated only after a delivery failed for good, soon after it, and mailed once. */
import type { RetryPolicy } from '../../src/domain/retry-policy.ts';
import type { Evidence, WebhookRow } from '../evidence.ts';
import type { Logbook } from '../logbook.ts';
import type { Receiver } from '../receivers.ts';
import { touches, withOutages } from './outages.ts';
import { arrivalsOf, endOf } from './outcomes.ts';
import { type Violation, violation } from './violation.ts';

/** A database step met by a fault is taken for dead after this long, in milliseconds, and repeated. */
const STEP_MS = 15_000;

/** Checks the webhooks. */
export function checkDeactivations(policy: RetryPolicy, logbook: Logbook, evidence: Evidence): Violation[] {
  return evidence.receivers.flatMap((receiver) => {
    const row = evidence.webhooks.find(({ id }) => id === receiver.webhookId);
    if (row === undefined) return [violation('lost', `the webhook of the ${receiver.kind} receiver is gone`)];
    const broken = (kind: Violation['kind'], problems: readonly string[]) =>
      problems.map((text) => violation(kind, `${receiver.kind} receiver: ${text}`));
    return [
      ...broken('wrong', checkWebhook(logbook, evidence, receiver, row)),
      ...broken('late', checkTime(policy, logbook, evidence, receiver, row)),
    ];
  });
}

function checkWebhook(logbook: Logbook, evidence: Evidence, receiver: Receiver, row: WebhookRow): string[] {
  const problems: string[] = [];
  const failed = evidence.deliveries.some(
    ({ webhookId, state }) => webhookId === receiver.webhookId && state === 'failed',
  );
  if (failed === row.active) {
    problems.push(
      row.active ? 'a delivery failed, but the webhook is still active' : 'deactivated without a reason',
    );
  }
  const deactivations = failed ? 1 : 0;
  if (row.deactivations !== deactivations)
    problems.push(`${row.deactivations} deactivations recorded, not ${deactivations}`);
  if (row.mailed !== deactivations) problems.push(`${row.mailed} mails recorded, not ${deactivations}`);

  const mails = evidence.mails.filter((messageId) => messageId.startsWith(`<webhook-${row.id}-`));
  const enough = mails.length === deactivations || (logbook.mailsMayRepeat && mails.length === 2);
  if (!enough) problems.push(`${mails.length} mails, not ${deactivations}`);
  if (new Set(mails).size > 1) problems.push('a mail was repeated under another Message-ID');
  return problems;
}

/** Whether the deactivation came when its delivery's last attempt had failed. */
function checkTime(
  policy: RetryPolicy,
  { outages, graceMs }: Logbook,
  { deliveries }: Evidence,
  receiver: Receiver,
  { id, deactivatedAt }: WebhookRow,
): string[] {
  const failed = deliveries.find(({ webhookId, state }) => webhookId === id && state === 'failed');
  if (failed === undefined || deactivatedAt === null || receiver.unseen === true) return [];
  const last = arrivalsOf(receiver, failed.id).at(-1);
  if (last === undefined) return [];
  const due = withOutages(endOf(last, policy), last.at, deactivatedAt, outages);
  const met = outages.some((outage) => touches(outage, last.at, deactivatedAt));
  const late = deactivatedAt - due;
  if (late <= graceMs + (met ? STEP_MS : 0)) return [];
  return [`deactivated ${Math.round(late)} ms beyond its delivery's last attempt and outage`];
}
