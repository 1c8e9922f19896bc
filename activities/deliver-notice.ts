/** Notices to an e-shop (docs/interface.md, D7, W15, W20, N5 to N8). */
import { readLostWebhooks } from '../src/db/incidents/warnings.ts';
import { newToken } from '../src/db/notices/confirmation.ts';
import { findDeactivationMail, type Notice, readNotice } from '../src/db/notices/notice.ts';
import { dropNotice } from '../src/db/notices/outcome.ts';
import { deactivationMail } from '../src/mail/deactivation-mail.ts';
import { lostSecretsMail } from '../src/mail/lost-secrets-mail.ts';
import { type MailContent, mailOf, mergeMails } from '../src/mail/mail-template.ts';
import { confirmationMail, noticeMessageId, recoveredMail } from '../src/mail/notice-mails.ts';
import { warningMail } from '../src/mail/warning-mail.ts';
import type { DeliveryActivities, NoticeResult } from '../workflows/delivery-types.ts';
import type { NoticeActivities } from '../workflows/notice-types.ts';
import { acceptedBefore, deferral, type MailOnceDeps, mailOnce, recordAccepted } from './mail-once.ts';
import { createNoticePlaces } from './notice-places.ts';
import { type Subject, type SubjectDeps, subjectOf } from './notice-subject.ts';
import { type PostNoticeDeps, postNotice } from './post-notice.ts';

export interface NoticeDeps extends MailOnceDeps, SubjectDeps, PostNoticeDeps {
  /** The URL of the API, for links in mails; null: not known. */
  readonly publicUrl: string | null;
}

/**
 * How long a notice that has to wait is left alone, in milliseconds. Too low: executions without a result, for as
 * long as a pause lasts. Too high: it comes later than it could.
 */
const LOOK_AGAIN_MS = 60_000;

/**
 * Makes the activities `deliverNotice`, and `mailDeactivation` for the delivery that caused the deactivation. A
 * notice that no longer applies when it is due is not sent.
 */
export function createNoticeActivities(
  deps: NoticeDeps,
): NoticeActivities & Pick<DeliveryActivities, 'mailDeactivation'> {
  const { sql, log, publicUrl } = deps;
  const places = createNoticePlaces();

  async function send(id: string): Promise<NoticeResult> {
    const notice = await readNotice(sql, id);
    if (notice === null || !notice.pending) return { outcome: 'endedBefore' };
    // This comes first: a notice that was sent counts as sent, even if its reason no longer applies.
    const included = acceptedBefore();
    if (included !== null) return await recordAccepted(deps, notice, included);
    const { kind, recipient, address, addressId } = notice;
    if (kind === 'confirmation' && notice.wanted && address !== null && addressId !== null) {
      return await mailOnce(deps, notice, async () => {
        const token = await newToken(sql, addressId);
        const content = confirmationMail({ ...notice, email: address }, token);
        return { mail: mailOf(content, publicUrl), others: [] };
      });
    }
    const lost = kind === 'lostSecrets' ? await readLostWebhooks(sql, id) : [];
    if ((lost.length > 0 || notice.lostNoticeSecret) && address !== null) {
      const mail = mailOf(lostSecretsMail({ ...notice, lost, email: address }), publicUrl);
      return await mailOnce(deps, notice, async () => ({ mail, others: [] }));
    }
    const subject = await subjectOf(deps, notice);
    if (subject === 'later')
      throw deferral(
        'the notice waits for the one about the failure, or for the end of a pause',
        LOOK_AGAIN_MS,
      );
    if (subject === null) {
      await dropNotice(sql, id);
      return { outcome: 'dropped' };
    }
    if (recipient === 'url') return await postNotice({ ...deps, places }, notice, subject);
    if (address === null) throw new Error('A notice that is wanted has an address.');
    return await mailOnce(deps, notice, async (deferred) => {
      const others = await stillApplying(deps, deferred);
      const same = others.filter((other) => other.subject.kind === subject.kind);
      const subjects = [subject, ...same.map((other) => other.subject)];
      const contents = subjects.map((each) => contentOf({ ...notice, email: address }, each));
      return { mail: mailOf(mergeMails(contents), publicUrl), others: others.map((other) => other.id) };
    });
  }

  return {
    async deliverNotice(id) {
      const result = await send(id);
      if (result.outcome === 'dropped') log.info({ noticeId: id }, 'notice dropped: it no longer applies');
      return result;
    },
    async mailDeactivation(deactivation) {
      const id = await findDeactivationMail(sql, deactivation);
      return id === null ? null : await send(id);
    },
  };
}

interface OtherNotice {
  readonly id: string;
  readonly subject: Subject;
}

async function stillApplying(deps: NoticeDeps, deferred: readonly string[]): Promise<OtherNotice[]> {
  const others: OtherNotice[] = [];
  for (const id of deferred) {
    const other = await readNotice(deps.sql, id);
    const subject = other === null ? null : await subjectOf(deps, other);
    if (subject !== null && subject !== 'later') others.push({ id, subject });
  }
  return others;
}

function contentOf(notice: Notice & { readonly email: string }, subject: Subject): MailContent {
  const { email } = notice;
  switch (subject.kind) {
    case 'warning':
      return warningMail({ ...subject.warning, email });
    case 'deactivated': {
      const content = deactivationMail({ ...subject.deactivation, email });
      // Its own Message-ID: a mail program that also gets the mail to another address then shows both.
      return notice.recipient === 'email' ? content : { ...content, messageId: noticeMessageId(notice.id) };
    }
    case 'recovered':
      return recoveredMail(notice, subject.well);
  }
}
