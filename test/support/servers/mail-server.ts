/** A real mail server, and a link to it that can be slow or die. */
import { connect, createServer, type Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { createMailer } from '../../../src/mail/mailer.ts';
import { listenLocally } from './ports.ts';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly content: Buffer;
}

/** What the server does at each step; may be changed between two mails. */
export interface MailServerBehavior {
  /** The reply to the sender, e.g. `550`; absent: accepted. */
  refuseSender?: number;
  /** The reply to the recipient, e.g. `550`; absent: accepted. */
  refuseRecipient?: number;
  /** The reply to the text, e.g. `451`; absent: accepted. */
  refuseText?: number;
  /** Awaited before the reply to the recipient. */
  beforeRecipient?: () => Promise<void>;
  /** Awaited before the text is accepted and the reply is sent. */
  beforeTaking?: () => Promise<void>;
}

export interface MailServer {
  readonly url: string;
  readonly port: number;
  readonly behavior: MailServerBehavior;
  /** Accepted mails, even if the client never got the answer. */
  readonly mails: readonly ReceivedMail[];
  /** Conversations begun so far. */
  readonly conversations: () => number;
  /** Resolves when no client is connected. */
  left(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a mail server on loopback.
 * @param tls key and certificate, in PEM: TLS from the beginning; default: no TLS
 */
export async function startMailServer(
  behavior: MailServerBehavior = {},
  tls?: { readonly key: string; readonly cert: string },
): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let conversations = 0;
  let present = 0;
  let whenEmpty: (() => void)[] = [];
  const rejection = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode });
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    ...(tls === undefined ? {} : { secure: true, ...tls }),
    closeTimeout: 100,
    onConnect(_session, callback) {
      conversations += 1;
      present += 1;
      callback();
    },
    onClose() {
      present -= 1;
      if (present > 0) return;
      for (const resolve of whenEmpty) resolve();
      whenEmpty = [];
    },
    onMailFrom({ address }, _session, callback) {
      const { refuseSender } = behavior;
      callback(refuseSender === undefined ? null : rejection(refuseSender, `Not from you: ${address}`));
    },
    async onRcptTo({ address }, _session, callback) {
      await behavior.beforeRecipient?.();
      const { refuseRecipient } = behavior;
      callback(
        refuseRecipient === undefined ? null : rejection(refuseRecipient, `No such person: ${address}`),
      );
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        await behavior.beforeTaking?.();
        const { refuseText } = behavior;
        if (refuseText !== undefined) return callback(rejection(refuseText, 'Not this text'));
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          content: Buffer.concat(chunks),
        });
        callback();
      });
    },
  });
  server.on('error', () => {});
  const port = await listenLocally(server.server);
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    behavior,
    mails,
    conversations: () => conversations,
    left: () => (present === 0 ? Promise.resolve() : new Promise((resolve) => whenEmpty.push(resolve))),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A link to a mail server. */
export interface MailLink {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A link to a mail server whose replies go through `answer`.
 * @param answer receives each reply, the client's socket, and all that the client has said so far
 */
export async function linkTo(
  server: MailServer,
  answer: (bytes: Buffer, client: Socket, said: string) => void,
): Promise<MailLink> {
  const sockets = new Set<Socket>();
  const link = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1');
    let said = '';
    client.on('data', (bytes) => {
      said += bytes.toString('latin1');
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => answer(bytes, client, said));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const port = await listenLocally(link);
  return {
    url: `smtp://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => link.close(resolve));
    },
  };
}

/** A mailer that uses only this server. */
export const mailerTo = ({ url }: MailServer, from = 'waybill@warehouse.example') =>
  createMailer({ smtpUrl: url, from, directory: '/nowhere' });
