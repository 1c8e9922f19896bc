/**
 * A proxy whose clients seem distant: their data arrives later. Its own process, so that nothing else delays it.
 *
 *     TARGET=127.0.0.1:7233 PORT=7000 DELAY_MS=50 node --import tsx bench/slow-link.ts
 */
import { connect, createServer } from 'node:net';

const { TARGET = '', PORT = '', DELAY_MS = '' } = process.env;
const [host = '127.0.0.1', port = ''] = TARGET.split(':');
const delayMs = Number(DELAY_MS);

const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
  const target = connect({ host, port: Number(port), noDelay: true, allowHalfOpen: true });
  // Timers of equal length fire in the order in which they were set.
  client.on('data', (chunk) => void setTimeout(() => target.write(chunk), delayMs));
  client.on('end', () => void setTimeout(() => target.end(), delayMs));
  target.pipe(client);
  for (const [one, other] of [
    [client, target],
    [target, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
process.once('SIGTERM', () => process.exit());
