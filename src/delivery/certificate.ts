import { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';

/** When the certificate of the server at this URL expires; null if it has none or cannot be reached. */
export function certificateEnd(connect: buildConnector.connector, url: string): Promise<Date | null> {
  const { protocol, hostname, port, host } = new URL(url);
  if (protocol !== 'https:') return Promise.resolve(null);
  return new Promise((resolve) => {
    connect({ protocol, hostname, port, host }, (error, socket) => {
      if (error !== null) return resolve(null);
      const until = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;
      socket.destroy();
      resolve(until === undefined ? null : new Date(until));
    });
  });
}
