/**
 * The page behind the link in a confirmation mail (docs/interface.md, N6). Only its button confirms, since malware
 * scanners open every link. Needs no sign-in: the link is the proof.
 */
import type { Context } from 'hono';
import { type Confirmable, confirmAddress, findConfirmable } from '../db/notices/confirmation.ts';
import { CONFIRM_PATH } from '../domain/notifications.ts';
import type { ConsoleApp, ConsoleDeps, ConsoleEnv } from './deps.ts';
import { respondPlain } from './layout.tsx';
import { CONSOLE } from './session.ts';

/** The form of a token: 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

export function confirmationRoutes(app: ConsoleApp, { sql }: ConsoleDeps): void {
  const path = `${CONFIRM_PATH.slice(CONSOLE.length)}/:token`;

  /**
   * Expired, removed and made-up links get the same page. There is no limit: 32 bytes cannot be guessed, and behind a
   * proxy one stranger could lock everybody out.
   */
  async function renderConfirmation(
    c: Context<ConsoleEnv>,
    find: (token: string) => Promise<Confirmable | null>,
  ) {
    const token = c.req.param('token') ?? '';
    const found = TOKEN.test(token) ? await find(token) : null;
    if (found === null) return respondPlain(c, 'This link is not valid', NO_LONGER, 404);
    return found.confirmed
      ? respondPlain(c, 'Confirmed', <Confirmed {...found} />)
      : respondPlain(c, 'Notices about webhooks', <Ask token={token} {...found} />);
  }

  app.get(path, (c) => renderConfirmation(c, (token) => findConfirmable(sql, token)));
  app.post(path, (c) => renderConfirmation(c, (token) => confirmAddress(sql, token)));
}

function Ask({ token, address, eshopName }: Confirmable & { token: string }) {
  return (
    <form method="post" action={`${CONFIRM_PATH}/${token}`} class="card">
      <p>
        <strong>{eshopName}</strong> would like <strong>{address}</strong> to be notified when one of its
        webhooks is failing, was deactivated, or has recovered.
      </p>
      <button type="submit" class="main">
        Confirm this address
      </button>
      <p class="quiet small">If you do not want that, close this page: nothing is sent to you.</p>
    </form>
  );
}

function Confirmed({ address, eshopName }: Confirmable) {
  return (
    <>
      <p class="note good" role="status">
        {address} now gets notices about the webhooks of {eshopName}.
      </p>
      <p>You can close this page. {eshopName} can remove the address at any time.</p>
    </>
  );
}

const NO_LONGER = (
  <p>
    It has expired, or the address was removed. The person who added it can remove it and add it again: then
    another mail is sent.
  </p>
);
