/** A notice to the URL of its e-shop (docs/interface.md, N7): six tries within an hour. */
import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { SendNotice } from '../src/attempt/begin-attempt.ts';
import type { SecretKeys } from '../src/attempt/prepare.ts';
import type { Pool } from '../src/db/connection/pool.ts';
import type { Notice } from '../src/db/notices/notice.ts';
import { recordTry } from '../src/db/notices/outcome.ts';
import type { RecoveredWebhook } from '../src/domain/mailed.ts';
import { type NoticeContent, noticeBody } from '../src/domain/notice-body.ts';
import type { NoticeResult } from '../workflows/delivery-types.ts';
import { deferral, nameOf, recordAccepted } from './mail-once.ts';
import type { NoticePlaces } from './notice-places.ts';
import type { Subject } from './notice-subject.ts';
import { withHeartbeat } from './with-heartbeat.ts';

export interface PostNoticeDeps {
  readonly sql: Pool;
  readonly log: Logger;
  readonly sendNotice: SendNotice;
  readonly keys: SecretKeys;
  /** The waits between tries, in milliseconds; default {@link NOTICE_WAITS_MS}. Tests shorten them. */
  readonly noticeWaitsMs?: readonly number[];
}

const MINUTE_MS = 60_000;
/** Five waits, 58 minutes in all: a chat that is down for longer is no way to reach anybody. */
const NOTICE_WAITS_MS = [1, 3, 8, 16, 30].map((minutes) => minutes * MINUTE_MS);
/** The longest wait that `Retry-After` can ask for: as long as the wait before the last try. */
const MAX_ASKED_WAIT_MS = 30 * MINUTE_MS;

/** @throws ApplicationFailure to be tried again */
export async function postNotice(
  deps: PostNoticeDeps & { readonly places: NoticePlaces },
  notice: Notice,
  subject: Subject,
): Promise<NoticeResult> {
  const { sql, log, places, noticeWaitsMs = NOTICE_WAITS_MS } = deps;
  const { id, eshopId, tries } = notice;
  const { outcome, error, retryAfterMs } = await inTurn(places, eshopId, () =>
    request(deps, notice, subject),
  );
  if (outcome === 'internal') throw deferral(`the notice is tried again: ${error}`);
  if (error !== null) {
    const wait = noticeWaitsMs[tries];
    const givenUp = outcome === 'gone' || wait === undefined;
    await recordTry(sql, id, error, givenUp);
    if (givenUp) {
      log.warn({ ...nameOf(notice), reason: error }, 'a notice was given up: its URL does not accept it');
      return { outcome: 'refused' };
    }
    const waitMs = Math.max(wait, Math.min(retryAfterMs ?? 0, MAX_ASKED_WAIT_MS));
    // The error is in the database: it names a host.
    throw deferral('the URL did not accept the notice', waitMs, 'NoticeNotTaken');
  }
  Context.current().heartbeat([]);
  return await recordAccepted(deps, notice, []);
}

/** @throws Error if the e-shop's secret cannot be opened */
async function request({ sendNotice, keys }: PostNoticeDeps, notice: Notice, subject: Subject) {
  const { id: noticeId, eshopId, noticeUrl: url, noticeFormat, noticeSecret } = notice;
  if (url === null || noticeSecret === null) throw new Error('A notice that is wanted has a URL.');
  const secret = keys.decryptSecret(noticeSecret, { eshopId, of: 'notices' });
  const body = noticeBody(contentOf(notice, subject), noticeFormat);
  return await withHeartbeat(Context.current(), (signal) =>
    // Not by the database's clock: if that is wrong, the receiver would refuse the signature.
    sendNotice({ noticeId, eshopId, url, secret, body, at: new Date() }, signal),
  );
}

/** @throws ApplicationFailure if there is no place now: to be tried when there may be one */
async function inTurn<T>(places: NoticePlaces, eshopId: number, act: () => Promise<T>): Promise<T> {
  const wait = places.enter(eshopId);
  if (wait !== null) throw deferral('the notice waits: others are being sent', wait);
  try {
    return await act();
  } finally {
    places.leave(eshopId);
  }
}

function contentOf({ id, eshopId, eshopName, at }: Notice, subject: Subject): NoticeContent {
  const eshop = { id: eshopId, name: eshopName };
  const none = { lastError: null, failures: null, deliveryId: null, deactivationAt: null, reason: null };
  const common = { id, kind: subject.kind, at, eshop, ...none };
  switch (subject.kind) {
    case 'warning': {
      const { since, failures, lastError, deliveryId, deactivationAt } = subject.warning;
      const webhook = webhookOf(subject.warning);
      return { ...common, since, failures, lastError, deliveryId, deactivationAt, webhook };
    }
    case 'deactivated': {
      const { at: since, attemptsMade: failures, lastError, deliveryId, reason } = subject.deactivation;
      const webhook = webhookOf(subject.deactivation);
      return { ...common, since, failures, lastError, deliveryId, reason, webhook };
    }
    case 'recovered':
      return { ...common, since: subject.well.recoveredAt, webhook: webhookOf(subject.well) };
  }
}

function webhookOf(webhook: Omit<RecoveredWebhook, 'recoveredAt'>): NoticeContent['webhook'] {
  const { webhookId: id, webhookType, additionalTypes, url } = webhook;
  return { id, webhookType, additionalTypes, url };
}
