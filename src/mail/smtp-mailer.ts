/** Mails through a mail server, each in a conversation of bounded length. */
import { createTransport } from 'nodemailer';
import { type Mail, type Mailer, mailMessage } from './mail.ts';
import { MailError, mailErrorFrom } from './mail-error.ts';

/** Until the server greeted us, TLS included, in milliseconds. */
const CONNECT_MS = 10_000;

/** How long a conversation may last, in milliseconds. */
export interface ConversationLimits {
  /** Until the text has left: giving up before that cannot make two mails of one. */
  readonly beforeTextMs: number;
  /**
   * Until the server has taken it; below the time-out of the activity, which would be repeated during the first
   * conversation.
   */
  readonly wholeMs: number;
}

/** A server that thinks for a minute before it takes a text is sent one mail. */
export const conversationLimits: ConversationLimits = { beforeTextMs: 40_000, wholeMs: 100_000 };

/** Every mail has a connection of its own: there are few, and none may go stale. */
export function createSmtpMailer(
  from: string,
  smtpUrl: string,
  limits: ConversationLimits = conversationLimits,
): Mailer {
  async function send(mail: Mail, signal?: AbortSignal): Promise<void> {
    const conversation = new AbortController();
    const giveUp = () => conversation.abort();
    const beforeText = setTimeout(giveUp, limits.beforeTextMs);
    const whole = setTimeout(giveUp, limits.wholeMs);
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
      // The limits above decide: silence is as good or bad as an answer in drips.
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
      throw signal?.aborted === true ? new MailError('the mail was interrupted', null) : mailErrorFrom(error);
    } finally {
      textLeft();
      clearTimeout(whole);
      transport.close();
    }
  }
  return { send };
}
