/** An examination of a webhook's receiver (docs/interface.md, W17): test requests, of which some have to be refused. */
import type { WebhookWithSecrets } from './test-delivery.ts';

/** `fail`: it does what it must not do, or not what it must. `warning`: what will make trouble. */
export const examinationVerdicts = ['ok', 'warning', 'fail'] as const;

interface ExaminationRow {
  /** What is looked at: `wrong signature` … */
  readonly name: string;
  readonly sent: string;
  readonly received: string;
  readonly verdict: (typeof examinationVerdicts)[number];
  /** How to mend it, in a sentence; null where nothing is wrong. */
  readonly remedy: string | null;
}

export interface Examination {
  readonly rows: readonly ExaminationRow[];
  /** The slowest answer to a right request, in milliseconds; null where none came. */
  readonly answerMs: number | null;
  /** False where it ended early: nobody answered, or the time was over. */
  readonly complete: boolean;
}

/** A series begins at most so often an hour for each webhook. */
export const EXAMINATIONS_PER_HOUR = 10;

/** Why none begins: one is under way, or there were too many. */
export const examinationRefusals = {
  busy: (webhookId: number) => `Webhook ${webhookId} is being examined. Wait for the result.`,
  spent: (webhookId: number) =>
    `Webhook ${webhookId} was examined ${EXAMINATIONS_PER_HOUR} times within the last hour. Try again later.`,
} as const;

/**
 * Examines the receiver of a webhook. Touches no state, incident or limit.
 * @param signal ends it
 * @throws Problem (503) where the service itself failed, which says nothing about the receiver
 * @throws Error where a secret cannot be opened; the reason of `signal`
 */
export type Examine = (webhook: WebhookWithSecrets, signal?: AbortSignal) => Promise<Examination>;
