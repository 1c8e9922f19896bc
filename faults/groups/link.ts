/** The links between Waybill and its servers: cut or blackholed, also mid-response, or accepted and closed. */
import type { TcpProxy } from '../../test/support/servers/tcp-proxy.ts';
import type { Fault, GroupName } from '../fault.ts';
import type { Stack } from '../stack/stack.ts';

type LinkName = keyof Stack['links'];

const LINKS: Readonly<Record<LinkName, string>> = {
  apiToPostgres: 'API to Postgres',
  workerToPostgres: 'worker to Postgres',
  workerToTemporal: 'worker to Temporal',
};

/** How long a blackholed link may go unnoticed, in milliseconds. Temporal probes every 30 s and waits 15 s. */
const NOTICED_WITHIN_MS: Readonly<Record<LinkName, number>> = {
  apiToPostgres: 30_000,
  workerToPostgres: 30_000,
  workerToTemporal: 50_000,
};

/** Early in a response, and somewhere within a long one, in bytes. */
const CUTS = [1, 40, 400, 4_000];

function faultsOf(link: LinkName): Fault[] {
  const fault = (
    what: string,
    lasts: readonly [number, number],
    inject: (proxy: TcpProxy, bytes: number) => void,
    of: { readonly group?: GroupName; readonly blackholed?: boolean } = {},
  ) =>
    ({
      group: of.group ?? 'link',
      name: `${LINKS[link]} ${what}`,
      policies: ['scaled', 'hours'] as const,
      injectionPoints: ['orders', 'slow', 19, 20] as const,
      lasts,
      async inject({ stack, random, logbook }) {
        const from = Date.now();
        if (of.blackholed === true) logbook.outages.push({ from, to: from + NOTICED_WITHIN_MS[link] });
        inject(stack.links[link], random.pick(CUTS));
      },
      heal: async ({ stack }) => {
        const proxy = stack.links[link];
        // Silenced connections stay dead without notice, as with a firewall that forgot its connections.
        proxy.pass();
        // If no response came, none is cut in the next round.
        proxy.cutInAnswer(Number.POSITIVE_INFINITY);
      },
      // The server has not noticed: the session of a dead client may hold a lock that the next round would wait for.
      finish: async ({ stack }) => stack.links[link].cutSilent(),
    }) satisfies Fault;
  return [
    fault('cut', [0, 4_000], (proxy) => proxy.refuse()),
    fault('accepted and closed', [0, 6_000], (proxy) => proxy.hangUp(), { group: 'accept then close' }),
    fault('blackholed', [1_000, 6_000], (proxy) => proxy.silence(), { blackholed: true }),
    fault('cut mid-response', [500, 1_000], (proxy, bytes) => proxy.cutInAnswer(bytes)),
    fault('blackholed mid-response', [500, 1_000], (proxy, bytes) => proxy.silenceInAnswer(bytes), {
      blackholed: true,
    }),
  ];
}

export const linkFaults: readonly Fault[] = [
  ...faultsOf('apiToPostgres'),
  ...faultsOf('workerToPostgres'),
  ...faultsOf('workerToTemporal'),
];
