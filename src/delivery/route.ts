/** Whether this machine has a way to the internet at all. */
import { createSocket } from 'node:dgram';

/** Root name servers: addresses reachable by any way to the internet. */
const FAR_AWAY = [
  { type: 'udp4', address: '198.41.0.4' },
  { type: 'udp6', address: '2001:503:ba3e::2:30' },
] as const;

/** Asks the routing table, over IPv4 and IPv6, by connecting a datagram socket, which sends nothing. */
export async function hasRoute(): Promise<boolean> {
  const routes = await Promise.all(FAR_AWAY.map(({ type, address }) => canReach(type, address)));
  return routes.includes(true);
}

function canReach(type: 'udp4' | 'udp6', address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(type);
    const conclude = (reachable: boolean) => {
      socket.close();
      resolve(reachable);
    };
    socket.once('error', () => conclude(false));
    socket.once('connect', () => conclude(true));
    socket.connect(53, address);
  });
}
