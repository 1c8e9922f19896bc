/**
 * Reads from the Postgres protocol whether the server has still to reply.
 *
 * Every Query and every Sync is answered, in the end, with one ReadyForQuery; a Describe that is flushed, with a
 * ParameterDescription or an error. https://www.postgresql.org/docs/current/protocol-flow.html
 */

const SENT = { query: 0x51, sync: 0x53, flush: 0x48 } as const;
const RECEIVED = { readyForQuery: 0x5a, parameterDescription: 0x74, error: 0x45 } as const;
/** Type and length of a message. */
const HEADER_BYTES = 5;

/** One connection's account. */
export interface PendingReplies {
  /** Takes what is sent, in pieces of any size. */
  sent(piece: Uint8Array): void;
  /** Takes what is received, in pieces of any size. */
  received(piece: Uint8Array): void;
  /** Whether the server has still to reply. */
  readonly any: boolean;
}

/** Starts with a connection on which nothing has been said. */
export function createPendingReplies(): PendingReplies {
  // The start of a session is answered with a ReadyForQuery as well.
  let asked = 1;
  let described = 0;
  const outgoing = messageTypes(true, (type) => {
    if (type === SENT.query || type === SENT.sync) asked += 1;
    if (type === SENT.flush) described += 1;
  });
  const incoming = messageTypes(false, (type) => {
    if (type === RECEIVED.readyForQuery) asked = Math.max(0, asked - 1);
    if (type === RECEIVED.parameterDescription || type === RECEIVED.error)
      described = Math.max(0, described - 1);
  });
  return {
    sent: outgoing,
    received: incoming,
    get any() {
      return asked > 0 || described > 0;
    },
  };
}

/**
 * Tells the type of every message of a stream once it is complete.
 * @param untypedFirst the client's first message has a length and no type
 */
function messageTypes(untypedFirst: boolean, tell: (type: number) => void): (piece: Uint8Array) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let have = untypedFirst ? 1 : 0;
  let left = 0;
  return (piece) => {
    for (let at = 0; at < piece.length; ) {
      if (have < HEADER_BYTES) {
        header[have] = piece[at] ?? 0;
        have += 1;
        at += 1;
        // The length counts itself, and not the type.
        if (have === HEADER_BYTES) left = header.readUInt32BE(1) - 4;
      } else {
        const skipped = Math.min(left, piece.length - at);
        left -= skipped;
        at += skipped;
      }
      if (have === HEADER_BYTES && left === 0) {
        tell(header[0] ?? 0);
        have = 0;
      }
    }
  };
}
