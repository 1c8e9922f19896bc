/** The activities that notify e-shops, as a worker has them, and how a webhook comes to need one. */
import { ApplicationFailure } from '@temporalio/common';
import pino from 'pino';
import { createNoticeActivities, type NoticeDeps } from '../../activities/deliver-notice.ts';
import type { Pool } from '../../src/db/connection/pool.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { fireDelivery, makeAttempt } from './database/deliveries.ts';
import { insertWebhook } from './database/events.ts';

const HOUR_MS = 3_600_000;

/** Activities of a worker whose e-shops have no URL for notices, and which logs nothing. */
export const noticeActivities = (deps: Pick<NoticeDeps, 'sql' | 'mailer'> & Partial<NoticeDeps>) =>
  createNoticeActivities({
    mailsUnderWay: { count: 0 },
    log: pino({ level: 'silent' }),
    publicUrl: null,
    policy: defaultRetryPolicy,
    sendNotice: () => Promise.reject(new Error('none has a URL')),
    keys: { decryptSecret: () => '' },
    ...deps,
  });

/** @returns the result, or for how long the activity is deferred, in milliseconds */
export async function resultOrWait<T>(activity: Promise<T>): Promise<T | number> {
  try {
    return await activity;
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || error.type !== 'NoticeDeferred') throw error;
    return Number(error.nextRetryDelay);
  }
}

/** A webhook whose only attempt failed seven hours ago. */
export async function failingWebhook(sql: Pool, eshopId: number) {
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const deliveryId = await fireDelivery(sql, { eshopId, webhookId });
  await makeAttempt(sql, deliveryId, 1, {
    finishedAt: new Date(Date.now() - 7 * HOUR_MS),
    nextAttemptAt: new Date(Date.now() + HOUR_MS),
    error: 'HTTP 503 from <b>shop.example</b> after 212 ms',
  });
  return { webhookId, deliveryId };
}
