/**
 * Sends mails: through a mail server, or, where none is configured, into `.eml` files.
 * @module
 */
import { createTransport } from 'nodemailer';
import { createEmlDirectory } from './eml-directory.ts';

/** A mail in plain text to one person. */
export interface Mail {
  /** One address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** With its angle brackets. The same for every repetition of a mail, so that mail programs show it once. */
  readonly messageId: string;
}

/** Sends mails. */
export interface Mailer {
  /**
   * Resolves once the mail server has taken the mail for its recipient, or the file is written.
   * @throws MailError when the mail was not taken; sending again later is right in every case
   */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/**
 * A mail was not taken. The message is a sentence without addresses, names or passwords; for the same reason the
 * library's error is not kept as the cause, for causes end up in workflow histories.
 */
export class MailError extends Error {
  /** What the mail server answered (550 …); null when it did not. */
  readonly responseCode: number | null;

  constructor(message: string, responseCode: number | null) {
    super(message);
    this.name = 'MailError';
    this.responseCode = responseCode;
  }
}

/** Settings of `createMailer`. */
export interface MailerOptions {
  /** `smtp://user:password@host:587` or `smtps://…`; without it mails become files. */
  readonly smtpUrl?: string;
  /** The sender, as `Waybill <waybill@example.com>`. */
  readonly from: string;
  /** Where the `.eml` files go. */
  readonly directory: string;
}

const CONNECT_MS = 10_000;
/** Between two steps of the conversation; a mail server may think for a while after the message's end. */
const SILENCE_MS = 60_000;
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' };

/** Creates a mailer. Every mail has a connection of its own: there are few, and none may go stale. */
export function createMailer({ smtpUrl, from, directory }: MailerOptions): Mailer {
  return smtpUrl === undefined ? fileMailer(from, directory) : smtpMailer(from, smtpUrl);
}

function smtpMailer(from: string, smtpUrl: string): Mailer {
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      try {
        const taken = await transport.sendMail(message(from, mail));
        if (taken.accepted.length === 0 || taken.rejected.length > 0) throw new Error('Recipient refused.');
      } catch (error) {
        throw mailError(error);
      }
    },
    close: () => transport.close(),
  };
}

function fileMailer(from: string, directory: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const files = createEmlDirectory(directory);
  return {
    async send(mail) {
      const { message: content } = await transport.sendMail(message(from, mail));
      if (!Buffer.isBuffer(content)) throw new TypeError('The message is not a buffer.');
      try {
        await files.write(mail.messageId, content);
      } catch (error) {
        throw new MailError(`the mail could not be written to the folder of mails (${codeOf(error)})`, null);
      }
    },
    close: () => transport.close(),
  };
}

function message(from: string, { to, subject, text, messageId }: Mail) {
  // An address as an object is one recipient, whatever commas it holds.
  return { from, to: { name: '', address: to }, subject, text, messageId, headers: AUTOMATIC };
}

const STEPS: Readonly<Record<string, string>> = {
  EAUTH: 'refused our user name and password',
  EENVELOPE: 'refused the recipient or the sender',
  EMESSAGE: 'refused the message',
  ETLS: 'could not be talked to over TLS',
  EDNS: 'has no address',
  ECONNECTION: 'closed the connection',
  ETIMEDOUT: 'did not answer in time',
  ESOCKET: 'cannot be reached',
};

/** Made from codes alone: what a mail server says may quote addresses. */
function mailError(error: unknown): MailError {
  const code = codeOf(error);
  const response =
    error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
      ? error.responseCode
      : null;
  const detail = response === null ? code : `${code}, ${response}`;
  return new MailError(`the mail server ${STEPS[code] ?? 'did not take the mail'} (${detail})`, response);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown error';
}
