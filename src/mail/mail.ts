/** A mail, and what sends it. */

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

/** Sends mails. */
export interface Mailer {
  /**
   * Resolves once the mail server has taken the mail for its recipient, or the file is written.
   * @param signal gives the mail up while its text has not left yet; afterwards the answer is waited for, since a mail
   * that may have been taken would be sent twice
   * @throws MailError when the mail was not taken; sending again later is right in every case, though vain where it
   * was `refused`
   */
  send(mail: Mail, signal?: AbortSignal): Promise<void>;
}
