import { createTransport } from 'nodemailer';
import { createEmlDirectory } from './eml-directory.ts';
import type { Mailer } from './mail.ts';
import { codeOf, MailError } from './mail-error.ts';
import { mailMessage } from './message.ts';

export function createFileMailer(from: string, directory: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const files = createEmlDirectory(directory);
  return {
    async send(mail) {
      const { message: content } = await transport.sendMail(mailMessage(from, mail));
      if (!Buffer.isBuffer(content)) throw new TypeError('The message is not a buffer.');
      try {
        await files.write(mail.messageId, content);
      } catch (error) {
        throw new MailError(`the mail could not be written to the mail folder (${codeOf(error)})`, null);
      }
    },
  };
}
