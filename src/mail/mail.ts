/** A mail to one person, as text and as HTML with the same content. */
export interface Mail {
  /** One address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** With angle brackets. The same for every repetition of a mail, so that mail programs show it once. */
  readonly messageId: string;
}

export interface Mailer {
  /**
   * Resolves once the mail server has accepted the mail, or the file is written.
   * @param signal gives up until the text is sent; after that the reply is awaited, or the mail might be sent twice
   * @throws MailError when it was not accepted; it may be sent again, though to no avail if it was `refused`
   */
  send(mail: Mail, signal?: AbortSignal): Promise<void>;
}

const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' };

/** A mail in the library's form. @param from the sender, such as `Waybill <waybill@example.com>` */
export function mailMessage(from: string, { to, subject, text, html, messageId }: Mail) {
  // An address as an object is one recipient, even with commas in it.
  return { from, to: { name: '', address: to }, subject, text, html, messageId, headers: AUTOMATIC };
}

/**
 * A mail was not accepted. The message has no addresses, names or passwords; nor is the library's error kept as the
 * cause, because causes end up in workflow histories.
 */
export class MailError extends Error {
  /** Refused for good (5xx to its recipient or text): sending it again would get the same reply. */
  readonly refused: boolean;

  constructor(message: string, refused = false) {
    super(message);
    this.name = 'MailError';
    this.refused = refused;
  }
}

/** By the library's code, or by its code and the command that was refused. */
const STEPS: Readonly<Record<string, string>> = {
  EABORT: 'did not answer in time',
  EAUTH: 'refused our user name and password',
  EENVELOPE: 'refused the recipient or the sender',
  'EENVELOPE MAIL FROM': 'refused our sender',
  'EENVELOPE RCPT TO': 'refused the recipient',
  'EENVELOPE DATA': 'refused the message',
  EMESSAGE: 'refused the message',
  ETLS: 'could not be reached over TLS',
  EDNS: 'has no address',
  ECONNECTION: 'closed the connection',
  ETIMEDOUT: 'did not answer in time',
  ESOCKET: 'cannot be reached, or has a TLS certificate that is not accepted',
};

/** The steps at which a reply is about the mail. At others it is about us: the sender is the same for all mails. */
const ABOUT_THE_MAIL: ReadonlySet<string> = new Set(['EENVELOPE RCPT TO', 'EENVELOPE DATA', 'EMESSAGE DATA']);

/** Uses codes and fixed words only: the reply of a mail server may quote addresses. */
export function mailErrorFrom(error: unknown): MailError {
  const code = codeOf(error);
  const step = `${code} ${String(propertyOf(error, 'command'))}`;
  const response = propertyOf(error, 'responseCode');
  const detail = typeof response === 'number' ? `${code}, ${response}` : code;
  // 503 (bad sequence of commands) is not permanent: it is about the conversation, not the mail.
  const refused = ABOUT_THE_MAIL.has(step) && propertyOf(error, 'permanent') === true;
  return new MailError(
    `the mail server ${STEPS[step] ?? STEPS[code] ?? 'did not accept the mail'} (${detail})`,
    refused,
  );
}

/** The library's code or the system's (`EENVELOPE`, `ENOSPC`). */
export function codeOf(error: unknown): string {
  const code = propertyOf(error, 'code');
  return typeof code === 'string' ? code : 'unknown error';
}

function propertyOf(error: unknown, name: string): unknown {
  return error instanceof Error ? Reflect.get(error, name) : undefined;
}
