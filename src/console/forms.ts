/** Checks forms: small, from our own page, and with the token of their session. */
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { findInvalidText } from '../domain/invalid-text.ts';
import { MAX_REASON_CHARS } from '../domain/operator-action.ts';
import { forbidden, Problem } from '../domain/problem.ts';
import type { Authenticator, ConsoleEnv, Viewer } from './deps.ts';
import { ALL, CONSOLE, isCsrfToken, partsOfToken } from './session.ts';

const MAX_FORM_BYTES = 64 * 1024;
const REFUSED = 'This form is no longer valid. Go back, reload the page, and submit it again.';
const TAKEN =
  'This form has already been submitted, and counts only once. Check whether it took effect; to submit it again, reload its page.';
const LONG_REASON = `The reason must have at most ${MAX_REASON_CHARS} characters. Go back, shorten it, and submit the form again.`;
const TURNED =
  'You have switched to another e-shop in the meantime. Nothing was changed: go back, reload the page, and submit the form again.';

/** Refuses large bodies. */
export const smallForms = bodyLimit({
  maxSize: MAX_FORM_BYTES,
  onError: () => {
    throw new Problem(413, 'The form is larger than 64 KiB.');
  },
});

/**
 * Refuses changes not sent by our own pages, and reasons that are too long; sets `c.var.form`.
 * @param sessionOf the id of the session that the form belongs to
 * @param acceptFormOnce left out if a form may be sent again
 * @throws Problem 403; 400 for text that cannot be stored; 409 for a form sent before, as by reloading its result
 */
export function ownForms(
  sessionOf: (c: Context<ConsoleEnv>) => string | undefined,
  acceptFormOnce?: Authenticator['acceptFormOnce'],
): MiddlewareHandler<ConsoleEnv> {
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return await next();
    const site = c.req.header('sec-fetch-site');
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw forbidden(REFUSED);
    const id = sessionOf(c);
    if (!(c.req.header('content-type') ?? '').startsWith('application/x-www-form-urlencoded'))
      throw forbidden(REFUSED);
    // If a field is repeated, only the last value counts.
    const form = Object.fromEntries(new URLSearchParams(await c.req.text()));
    if (id === undefined || !isCsrfToken(id, form.csrf ?? '')) throw forbidden(REFUSED);
    const refused = findInvalidText(form);
    if (refused !== null) throw new Problem(400, `${refused.path}: ${refused.message}`);
    // Checked before the form counts as sent, so that it can be sent again.
    if ((form.reason ?? '').length > MAX_REASON_CHARS) throw new Problem(400, LONG_REASON);
    // Absent before authentication.
    const viewer: Viewer | undefined = c.get('viewer');
    const aboutOne = viewer !== undefined && !c.req.path.startsWith(`${CONSOLE}${ALL}/`);
    const { eshopId, page } = partsOfToken(form.csrf ?? '');
    if (aboutOne && eshopId !== viewer.session.eshopId) throw new Problem(409, TURNED);
    if (acceptFormOnce !== undefined) {
      // A page has several forms, each with its own path.
      if (page === undefined) throw forbidden(REFUSED);
      if (!(await acceptFormOnce(id, `${page} ${c.req.path}`))) throw new Problem(409, TAKEN);
    }
    c.set('form', form);
    await next();
  };
}
