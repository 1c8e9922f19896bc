/** A mail as the library takes it. */
import type { Mail } from './mail.ts';

const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' };

/** @param from the sender, as `Waybill <waybill@example.com>` */
export function mailMessage(from: string, { to, subject, text, html, messageId }: Mail) {
  // An address as an object is one recipient, whatever commas it holds.
  return { from, to: { name: '', address: to }, subject, text, html, messageId, headers: AUTOMATIC };
}
