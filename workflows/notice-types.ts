/** The data exchanged by the workflow of a notice and its activities: identifiers. */
import type { NoticeKind } from '../src/domain/notifications.ts';
import type { NoticeResult } from './delivery-types.ts';

/** Input of `notifyEshop`. The content of the notice, and the address of its recipient, are read at its sending. */
export interface NoticeInput {
  readonly noticeId: string;
  readonly kind: NoticeKind | 'confirmation' | 'lostSecrets';
  /** Absent for a confirmation, and for lost secrets. */
  readonly webhookId?: number;
}

/** Activities of a notice; made by `createNoticeActivities`. */
export interface NoticeActivities {
  deliverNotice(noticeId: string): Promise<NoticeResult>;
}

/** `notice/<notice id>` */
export function noticeWorkflowId(noticeId: string): string {
  return `notice/${noticeId}`;
}

const TITLES: Readonly<Record<NoticeInput['kind'], string>> = {
  warning: 'is failing',
  deactivated: 'was deactivated',
  recovered: 'has recovered',
  confirmation: 'an address is to be confirmed',
  lostSecrets: 'secrets of webhooks are lost',
};

/** A notice in one line: "notice: webhook 7 has recovered". */
export function noticeTitle({ kind, webhookId }: Pick<NoticeInput, 'kind' | 'webhookId'>): string {
  return webhookId === undefined ? `notice: ${TITLES[kind]}` : `notice: webhook ${webhookId} ${TITLES[kind]}`;
}
