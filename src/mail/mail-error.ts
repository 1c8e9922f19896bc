/**
 * A mail was not taken. The message has no addresses, names or passwords; nor is the library's error kept as the
 * cause, for causes end up in workflow histories.
 */
export class MailError extends Error {
  /** What the mail server answered (550 …); null when it did not. */
  readonly responseCode: number | null;
  /** The server refused this mail permanently (5xx to its sender, recipient or text): sending it again would get the same. */
  readonly refused: boolean;

  constructor(message: string, responseCode: number | null, refused = false) {
    super(message);
    this.name = 'MailError';
    this.responseCode = responseCode;
    this.refused = refused;
  }
}

const STEPS: Readonly<Record<string, string>> = {
  EABORT: 'did not answer in time',
  EAUTH: 'refused our user name and password',
  EENVELOPE: 'refused the recipient or the sender',
  EMESSAGE: 'refused the message',
  ETLS: 'could not be reached over TLS',
  EDNS: 'has no address',
  ECONNECTION: 'closed the connection',
  ETIMEDOUT: 'did not answer in time',
  ESOCKET: 'cannot be reached',
};

/** Steps at which a server speaks of the mail, and not of us. */
const ABOUT_THE_MAIL: ReadonlySet<string> = new Set(['EENVELOPE', 'EMESSAGE']);

/** Made from codes alone: what a mail server says may quote addresses. */
export function mailErrorFrom(error: unknown): MailError {
  const code = codeOf(error);
  const response = propertyOf(error, 'responseCode');
  const responseCode = typeof response === 'number' ? response : null;
  const detail = responseCode === null ? code : `${code}, ${responseCode}`;
  // 503 (bad sequence of commands) is not permanent: it speaks of the conversation, not of the mail.
  const refused = ABOUT_THE_MAIL.has(code) && propertyOf(error, 'permanent') === true;
  return new MailError(
    `the mail server ${STEPS[code] ?? 'did not accept the mail'} (${detail})`,
    responseCode,
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
