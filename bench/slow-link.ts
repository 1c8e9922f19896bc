/**
 * A proxy whose clients seem distant: their data arrives later. Its own process, so that nothing else delays it.
 * Prints its address.
 *
 *     TARGET=127.0.0.1:7233 DELAY_MS=50 node --import tsx bench/slow-link.ts
 */
import { startTcpProxy } from '../test/support/servers/tcp-proxy.ts';

const { TARGET = '', DELAY_MS = '' } = process.env;
const [host = '127.0.0.1', port = ''] = TARGET.split(':');
const proxy = await startTcpProxy({ host, port: Number(port) });
proxy.delay(Number(DELAY_MS));
console.log(proxy.host);
process.once('SIGTERM', () => process.exit());
