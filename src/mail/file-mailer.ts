import { createTransport } from 'nodemailer';
import { writeEml } from './eml-directory.ts';
import { type Mailer, mailMessage } from './mail.ts';
import { codeOf, MailError } from './mail-error.ts';

export function createFileMailer(from: string, directory: string): Mailer {
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
