/** A mail server that accepts every mail, or behaves like real ones. */
import type { Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { Part } from '../../test/support/harness/part.ts';

/** Its response to each try of a mail for this recipient. */
export type MailBehavior = (
  to: string,
  attempt: number,
) =>
  | 'take'
  /** Accepts it, and is gone before the session ends properly. */
  | 'takeAndDie'
  /** Accepts it after a while. */
  | 'takeSlowly'
  /** An SMTP code: 4xx for now, 5xx for good. */
  | number;

/** A running mail server, in the harness's own process. */
export interface MailServer extends Pick<Part, 'stop' | 'start'> {
  readonly url: string;
  /** The Message-IDs of all mails accepted so far for this recipient. */
  mailsTo(address: string): readonly string[];
  behave(behavior: MailBehavior): void;
  /** Resolves once a mail to this address has arrived, whether answered or not. */
  mailUnderWay(address: string): Promise<void>;
}

/** In milliseconds. */
const SLOW_REPLY_MS = 1_000;

/** @param port free on 127.0.0.1 */
export async function startMailServer(port: number): Promise<MailServer> {
  const mails: { readonly to: string; readonly messageId: string }[] = [];
  const tries = new Map<string, number>();
  let behavior: MailBehavior = () => 'take';
  const watchers = new Set<(to: string) => void>();
  const sockets = new Set<Socket>();
  let server: SMTPServer | undefined;

  const open = () =>
    new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, session, done) {
        const [recipient] = session.envelope.rcptTo;
        const to = recipient?.address ?? '';
        let text = '';
        stream.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        stream.on('end', () => {
          const attempt = (tries.get(to) ?? 0) + 1;
          tries.set(to, attempt);
          const answer = behavior(to, attempt);
          if (typeof answer === 'number') {
            const rejection = Object.assign(new Error('Not this time.'), { responseCode: answer });
            return done(rejection);
          }
          for (const watcher of watchers) watcher(to);
          const messageId = /^Message-ID:\s*(\S+)/im.exec(text)?.[1] ?? '';
          mails.push({ to, messageId });
          setTimeout(done, answer === 'takeSlowly' ? SLOW_REPLY_MS : 0);
          // The response has left by the next turn of the event loop.
          if (answer === 'takeAndDie') setTimeout(() => void part.stop().then(() => part.start()), 20);
        });
      },
    });

  const part: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    mailsTo: (address) => mails.filter(({ to }) => to === address).map(({ messageId }) => messageId),
    behave(next) {
      behavior = next;
    },
    mailUnderWay: (address) =>
      new Promise((resolve) => {
        const watcher = (to: string) => {
          if (to !== address) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
      }),
    async stop() {
      const closing = server;
      server = undefined;
      if (closing === undefined) return;
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => closing.close(() => resolve()));
    },
    async start() {
      const opened = open();
      opened.on('error', () => {});
      opened.server.on('connection', (socket: Socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
      await new Promise<void>((resolve, reject) => {
        opened.server.once('error', reject);
        opened.listen(port, '127.0.0.1', resolve);
      });
      server = opened;
    },
  };
  await part.start();
  return part;
}
