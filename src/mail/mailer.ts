/**
 * Sends mails: through a mail server, or, if none is configured, into `.eml` files.
 *
 * Module mail, which imports domain. Begin: `deactivation-mail.ts`, `warning-mail.ts` and `lost-secrets-mail.ts`.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { codeOf, MailError, type Mailer, mailMessage } from './mail.ts';
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
        throw new MailError(`the mail could not be written to the mail folder (${codeOf(error)})`);
      }
    },
  };
}

/**
 * Writes a message, whole or not at all, unless there is one with this Message-ID. Files sort by time:
 * `20261120T193300123Z-<hash of the Message-ID>.eml`. The folder is created with the first mail.
 * @throws the error of the file system
 */
export async function writeEml(directory: string, messageId: string, message: Uint8Array): Promise<void> {
  // Mails name receivers and their errors.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const ending = `-${createHash('sha256').update(messageId).digest('hex').slice(0, 16)}.eml`;
  const names = await readdir(directory);
  if (names.some((name) => name.endsWith(ending))) return;
  const temporary = join(directory, `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, message, { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, join(directory, `${new Date().toISOString().replace(/[-:.]/g, '')}${ending}`));
  } catch (error) {
    // The first error matters; it may not even have been created.
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
