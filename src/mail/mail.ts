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
