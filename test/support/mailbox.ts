/** A mail server in memory. The mailer's own conversation with one is tested with the mailer. */
import type { Mail, Mailer } from '../../src/mail/mail.ts';

/** The test may change `isAway`: then no mail is taken. */
export function mailbox({ isAway = false } = {}) {
  const taken: Mail[] = [];
  const server = { isAway, tries: 0 };
  const mailer: Mailer = {
    async send(mail) {
      server.tries += 1;
      if (server.isAway) throw new Error('connect ECONNREFUSED');
      taken.push(mail);
    },
  };
  return { mailer, server, taken };
}
