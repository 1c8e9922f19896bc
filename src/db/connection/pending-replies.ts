/**
 * Follows the Postgres protocol to know whether a reply of the server is outstanding.
 *
 * Every Query and every Sync is eventually answered with one ReadyForQuery; a flushed Describe, with a
 * ParameterDescription or an error. https://www.postgresql.org/docs/current/protocol-flow.html
 */

/**
 * A message of the server about a session: a parameter's value, an error's SQLSTATE, the server process it was
 * given, or that it is ready, in a transaction or not.
 */
export type SessionEvent =
  | { readonly kind: 'parameter'; readonly name: string; readonly value: string }
  | { readonly kind: 'error'; readonly code: string }
  | { readonly kind: 'backend'; readonly pid: number }
  | { readonly kind: 'ready'; readonly inTransaction: boolean };

const SENT = { query: 0x51, sync: 0x53, flush: 0x48 } as const;
const RECEIVED = {
  readyForQuery: 0x5a,
  parameterDescription: 0x74,
  error: 0x45,
  parameterStatus: 0x53,
  backendKeyData: 0x4b,
} as const;
/** The messages of which the body is read too. */
const READ: ReadonlySet<number> = new Set([
  RECEIVED.readyForQuery,
  RECEIVED.error,
  RECEIVED.parameterStatus,
  RECEIVED.backendKeyData,
]);
/**
 * About how much of a body is kept, in bytes. Less could cut off an SQLSTATE, which is near the beginning; more
 * would only keep an error's details of its statement.
 */
const MAX_READ_BYTES = 4_096;
const NOTHING = Buffer.alloc(0);
/** Type and length of a message. */
const HEADER_BYTES = 5;

/**
 * The replies that one connection waits for. Begin with a connection on which nothing has been sent.
 * @param onEvent called with the server's messages about the session
 */
export function createPendingReplies(onEvent: (event: SessionEvent) => void = () => {}) {
  // The start of a session is answered with a ReadyForQuery too.
  let asked = 1;
  let described = 0;
  const outgoing = messageTypes(true, (type) => {
    if (type === SENT.query || type === SENT.sync) asked += 1;
    if (type === SENT.flush) described += 1;
  });
  const incoming = messageTypes(false, (type, body) => {
    const event = eventIn(type, body);
    if (event !== null) onEvent(event);
    if (type === RECEIVED.readyForQuery) asked = Math.max(0, asked - 1);
    if (type === RECEIVED.parameterDescription || type === RECEIVED.error)
      described = Math.max(0, described - 1);
  });
  return {
    /** Take the bytes sent and received, in pieces of any size. */
    sent: outgoing,
    received: incoming,
    /** Whether a reply is outstanding. */
    get any() {
      return asked > 0 || described > 0;
    },
  };
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
function eventIn(type: number, body: Buffer): SessionEvent | null {
  if (type === RECEIVED.backendKeyData && body.length >= 4)
    return { kind: 'backend', pid: body.readInt32BE() };
  if (type === RECEIVED.readyForQuery)
    return { kind: 'ready', inTransaction: body.toString('latin1') !== 'I' };
  if (type !== RECEIVED.error && type !== RECEIVED.parameterStatus) return null;
  const fields = body.toString('latin1').split('\0');
  const [name = '', value = ''] = fields;
  if (type === RECEIVED.parameterStatus) return { kind: 'parameter', name, value };
  return { kind: 'error', code: fields.find((field) => field.startsWith('C'))?.slice(1) ?? '' };
}

/**
 * Calls `tell` with the type and the beginning of each message of a stream once it is complete.
 * @param untypedFirst for the client's stream: its first message has a length but no type
 */
function messageTypes(untypedFirst: boolean, tell: (type: number, body: Buffer) => void) {
  const header = Buffer.alloc(HEADER_BYTES);
  let have = untypedFirst ? 1 : 0;
  let remaining = 0;
  let body: Buffer = NOTHING;
  return (piece: Uint8Array) => {
    for (let at = 0; at < piece.length; ) {
      if (have < HEADER_BYTES) {
        header[have] = piece[at] ?? 0;
        have += 1;
        at += 1;
        // The length includes itself, but not the type.
        if (have === HEADER_BYTES) remaining = header.readUInt32BE(1) - 4;
      } else {
        const taken = piece.subarray(at, at + Math.min(remaining, piece.length - at));
        if (!untypedFirst && READ.has(header[0] ?? 0) && body.length < MAX_READ_BYTES)
          body = Buffer.concat([body, taken.subarray(0, MAX_READ_BYTES)]);
        remaining -= taken.length;
        at += taken.length;
      }
      if (have === HEADER_BYTES && remaining === 0) {
        tell(header[0] ?? 0, body);
        have = 0;
        body = NOTHING;
      }
    }
  };
}
