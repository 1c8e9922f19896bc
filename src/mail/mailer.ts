/**
 * Sends mails: through a mail server, or, if none is configured, into `.eml` files.
 *
 * Module mail, which imports domain. Begin: `deactivation-mail.ts`, `warning-mail.ts` and `lost-secrets-mail.ts`.
 */
import { createTransport } from 'nodemailer';
import { writeEml } from './eml-directory.ts';
import { type Mailer, mailMessage } from './mail.ts';
import { codeOf, MailError } from './mail-error.ts';
import { createSmtpMailer } from './smtp-mailer.ts';

interface MailerOptions {
  /** `smtp://user:password@host:587` or `smtps://…`; without it mails are written to files. */
  readonly smtpUrl?: string | undefined;
  /** The sender, such as `Waybill <waybill@example.com>`. */
  readonly from: string;
  /** The folder of the `.eml` files. */
  readonly directory: string;
}

export function createMailer({ smtpUrl, from, directory }: MailerOptions): Mailer {
  return smtpUrl === undefined ? createFileMailer(from, directory) : createSmtpMailer(from, smtpUrl);
}

function createFileMailer(from: string, directory: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      const { message: content } = await transport.sendMail(mailMessage(from, mail));
      if (!Buffer.isBuffer(content)) throw new TypeError('The message is not a buffer.');
      try {
        await writeEml(directory, mail.messageId, content);
      } catch (error) {
        throw new MailError(`the mail could not be written to the mail folder (${codeOf(error)})`, null);
      }
    },
  };
}
