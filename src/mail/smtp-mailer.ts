/** Mails through a mail server, each in a conversation of bounded length. */
import { createTransport } from 'nodemailer';
import { type Mail, MailError, type Mailer, mailErrorFrom, mailMessage } from './mail.ts';

/** The time for the server's greeting, TLS included, in milliseconds. */
const CONNECT_MS = 10_000;

/** How long a conversation may last, in milliseconds. */
export interface ConversationLimits {
  /** Until the text has been sent: giving up before that cannot duplicate the mail. */
  readonly beforeTextMs: number;
  /**
   * Until the server has accepted it; below the time-out of the activity, which would otherwise be repeated during
   * the first conversation.
   */
  readonly wholeMs: number;
}

/** A server that takes a minute to accept a text still gets only one mail. */
export const conversationLimits: ConversationLimits = { beforeTextMs: 40_000, wholeMs: 100_000 };

/** Every mail has its own connection: mails are few, and a kept connection could go stale. */
export function createSmtpMailer(
  from: string,
  smtpUrl: string,
  limits: ConversationLimits = conversationLimits,
): Mailer {
  async function send(mail: Mail, signal?: AbortSignal): Promise<void> {
    const conversation = new AbortController();
    const giveUp = () => conversation.abort();
    const beforeText = setTimeout(giveUp, limits.beforeTextMs);
    const timer = setTimeout(giveUp, limits.wholeMs);
    signal?.addEventListener('abort', giveUp);
    if (signal?.aborted === true) giveUp();
    const textLeft = () => {
      clearTimeout(beforeText);
      signal?.removeEventListener('abort', giveUp);
    };

    const transport = createTransport({
      url: smtpUrl,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      // The limits above decide: silence and a slow answer are treated alike.
      socketTimeout: limits.wholeMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    transport.use('stream', ({ message }, done) => {
      message.processFunc((text) => text.once('end', textLeft));
      done();
    });
    try {
      const taken = await transport.sendMail({ ...mailMessage(from, mail), signal: conversation.signal });
      if (taken.accepted.length === 0 || taken.rejected.length > 0) throw new Error('Recipient refused.');
    } catch (error) {
      throw signal?.aborted === true ? new MailError('the mail was interrupted') : mailErrorFrom(error);
    } finally {
      textLeft();
      clearTimeout(timer);
      transport.close();
    }
  }
  return { send };
}
