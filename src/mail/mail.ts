/** A mail to one person, as text and as HTML that says the same. */
export interface Mail {
  /** One address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** With its angle brackets. The same for every repetition of a mail, so that mail programs show it once. */
  readonly messageId: string;
}

export interface Mailer {
  /**
   * Resolves once the mail server has taken the mail, or the file is written.
   * @param signal gives up while the text has not left; afterwards the answer is awaited, or the mail might be sent
   * twice
   * @throws MailError when it was not taken; sending again is right, though vain where it was `refused`
   */
  send(mail: Mail, signal?: AbortSignal): Promise<void>;
}

const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' };

/** A mail as the library takes it. @param from the sender, as `Waybill <waybill@example.com>` */
export function mailMessage(from: string, { to, subject, text, html, messageId }: Mail) {
  // An address as an object is one recipient, whatever commas it holds.
  return { from, to: { name: '', address: to }, subject, text, html, messageId, headers: AUTOMATIC };
}
