/**
 * Sends mails: through a mail server, or, where none is configured, into `.eml` files.
 *
 * Module mail, which imports domain. Begin: the mails are `deactivation-mail.ts`, `warning-mail.ts` and `lost-secrets-mail.ts`.
 */
import { createFileMailer } from './file-mailer.ts';
import type { Mailer } from './mail.ts';
import { createSmtpMailer } from './smtp-mailer.ts';

interface MailerOptions {
  /** `smtp://user:password@host:587` or `smtps://…`; without it mails become files. */
  readonly smtpUrl?: string;
  /** The sender, as `Waybill <waybill@example.com>`. */
  readonly from: string;
  /** Where the `.eml` files go. */
  readonly directory: string;
}

export function createMailer({ smtpUrl, from, directory }: MailerOptions): Mailer {
  return smtpUrl === undefined ? createFileMailer(from, directory) : createSmtpMailer(from, smtpUrl);
}
