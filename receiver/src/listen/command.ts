/** `waybill-receiver listen`: its options and its output. */
import { waybill } from '../api.ts';
import { type Given, headersOf, Mistake, oneOf, positive, privateKeyOf, urlOf } from '../arguments.ts';
import { isKind } from '../delivery.ts';
import { kinds } from '../kinds.ts';
import { newSecret, problemOfSecret } from '../secrets.ts';
import { ApiError } from '../session.ts';
import { listen } from './listen.ts';

export const LISTEN_USAGE = `  waybill-receiver listen        sends every event of the e-shop to a receiver on this machine, as a webhook would; only
                                 reads from the service. API_KEY, WAYBILL_USER and WAYBILL_PASSWORD are the e-shop's
    --url URL                    of the service's API (default: the variable WAYBILL_URL)
    --forward-to URL             of the receiver, such as http://127.0.0.1:9000/hooks
    --types TYPE,TYPE            (default: all)
    --since TIME                 also what happened from then on, in ISO 8601 (default: only from now on)
    --secret SECRET              (default: the variable WEBHOOK_SECRET, else a new one)
    --asymmetric                 signs with a private key too, for receivers that verify its public key
                                 (default: that in the variable WEBHOOK_PRIVATE_KEY, else a new one)
    --with-packing-lists         in orders
    --body                       prints the bodies as well
    --method, --payload-version, --webhook, --header, --timeout, --json
                                 as for examine
`;

function typesOf(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  const types = text.split(',').map((type) => type.trim());
  if (!types.every(isKind)) throw new Mistake(`--types must be some of ${Object.keys(kinds).join(', ')}.`);
  return types;
}

function sinceOf(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const since = new Date(text);
  if (Number.isNaN(since.getTime()))
    throw new Mistake('--since must be a time, such as 2026-11-20T10:00:00Z.');
  return since;
}

function secretOf(given: readonly string[] | undefined): string {
  const [secret = process.env.WEBHOOK_SECRET, ...more] = given ?? [];
  if (more.length > 0) throw new Mistake('--secret can be given once.');
  if (secret === undefined || secret === '') return newSecret();
  const problem = problemOfSecret(secret, 'The secret');
  if (problem !== null) throw new Mistake(problem);
  return secret;
}

function apiOf(given: Given) {
  const { WAYBILL_URL, API_KEY = '', WAYBILL_USER = '', WAYBILL_PASSWORD = '' } = process.env;
  const url = urlOf(given.url ?? WAYBILL_URL, 'Give the URL of the API, with --url or as WAYBILL_URL.');
  const credentials = { API_KEY, WAYBILL_USER, WAYBILL_PASSWORD };
  const missing = Object.entries(credentials).filter(([, value]) => value === '');
  if (missing.length > 0)
    throw new Mistake(`Set ${missing.map(([name]) => name).join(', ')}: the credentials of the e-shop.`);
  const payloadVersion = oneOf('payload-version', given['payload-version'], ['v2', 'v21']);
  const api = waybill({
    url,
    apiKey: API_KEY,
    username: WAYBILL_USER,
    password: WAYBILL_PASSWORD,
    payloadVersion,
  });
  return { url, payloadVersion, api };
}

/**
 * Runs until the process is interrupted.
 * @throws Mistake for wrong options, and if the service refuses
 */
export async function listenCommand(given: Given, print: (line: string) => void): Promise<void> {
  const { url, payloadVersion, api } = apiOf(given);
  const forwardTo = urlOf(
    given['forward-to'],
    'Give the receiver with --forward-to, such as http://127.0.0.1:9000/hooks.',
  );
  const secret = secretOf(given.secret);
  const pair = await privateKeyOf(given.asymmetric);
  const method = oneOf('method', given.method, ['POST', 'GET']);
  const tell = (line: string, values: object) => print(given.json ? JSON.stringify(values) : line);
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  const webhook = {
    url: forwardTo,
    method,
    withPackingLists: given['with-packing-lists'],
    secret,
    privateKey: pair?.key ?? null,
    id: positive('webhook', given.webhook),
    headers: headersOf(given.header ?? []),
    timeoutMs: positive('timeout', given.timeout) * 1_000,
  };
  const beginning = [
    `Following the events of ${url}; nothing is created, changed or marked there.`,
    `Forwarding to ${forwardTo} (${method}, ${payloadVersion}), signed with the secret`,
    `  ${secret}`,
    ...(pair === null ? [] : ['and with the private key of the public key', `  ${pair.publicKey}`]),
    ...(pair?.isNew === true
      ? ['which is a new one. To keep it: export', `  WEBHOOK_PRIVATE_KEY=${pair.key}`]
      : []),
    'Ctrl-C ends it.',
  ];
  const signedWith = {
    secret,
    ...(pair === null ? {} : { publicKey: pair.publicKey }),
    ...(pair?.isNew === true ? { privateKey: pair.key } : {}),
  };
  try {
    await listen({
      api,
      webhook,
      types: typesOf(given.types),
      since: sinceOf(given.since),
      signal: interrupted.signal,
      onReady: () => tell(beginning.join('\n'), { url, forwardTo, method, payloadVersion, ...signedWith }),
      onState: (message) => tell(message, { state: message }),
      async onAnswer({ event, body, deliveryId }, { status, error, durationMs, excerpt }) {
        const text = await excerpt;
        const at = new Date().toISOString();
        const { id: eventId, webhookType, entityId } = event;
        const line = `${at.slice(11, 19)}  ${webhookType} ${entityId}  ${status ?? error} after ${durationMs} ms`;
        const isDone = status !== null && status >= 200 && status < 300;
        const lines = [
          line,
          ...(given.body && body !== null ? [body] : []),
          ...(isDone || text === '' ? [] : [text]),
        ];
        const sent = { at, webhookType, entityId, eventId, deliveryId, ...(given.body ? { body } : {}) };
        tell(lines.join('\n'), { ...sent, status, error, durationMs, response: text });
      },
    });
  } catch (error) {
    if (error instanceof ApiError) throw new Mistake(`The service refuses: ${error.message}`);
    throw error;
  }
}
