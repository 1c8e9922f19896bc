/** The receiver, as seen by its parent. */
import { fork } from 'node:child_process';
import type { Arrival, ArrivalsWanted, ReceiverMessage } from './receiver.ts';

/** A receiver in its own process. */
export interface ReceiverProcess {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** The URL at one of its addresses; after the last they start over. */
  urlOf(host: number): string;
  readonly pid: number;
  /**
   * The first arrivals of deliveries since the last call, once there are this many.
   * @throws Error after `patienceMs`, with the number that arrived
   */
  arrivals(deliveries: number, patienceMs: number): Promise<readonly Arrival[]>;
  /** The same, or fewer if not all arrive in time; with 0 and no patience: those that have arrived. */
  arrivalsWithin(wanted: ArrivalsWanted): Promise<readonly Arrival[]>;
  stop(): void;
}

/** The number of its addresses: limits per host apply to each. */
const HOSTS = 20;

/** Starts `receiver.ts` and waits until it listens. */
export async function startReceiver(): Promise<ReceiverProcess> {
  const child = fork(new URL('./receiver.ts', import.meta.url), [String(HOSTS)], {
    execArgv: ['--import', 'tsx'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('The receiver could not be started.');
  const next = () => new Promise<ReceiverMessage>((resolve) => child.once('message', resolve));
  const listening = await next();
  if (listening.kind !== 'listening') throw new Error('The receiver does not listen.');

  async function arrivalsWithin(wanted: ArrivalsWanted): Promise<readonly Arrival[]> {
    const answer = next();
    await new Promise<void>((resolve, reject) => {
      child.send(wanted, (error) => (error === null ? resolve() : reject(error)));
    });
    const message = await answer;
    if (message.kind !== 'arrivals') throw new Error('The receiver did not answer what it was asked.');
    return message.arrivals;
  }

  return {
    url: `http://127.0.0.1:${listening.port}`,
    urlOf: (host) => `http://127.0.0.${1 + (host % HOSTS)}:${listening.port}`,
    pid,
    arrivalsWithin,
    async arrivals(deliveries, patienceMs) {
      const arrivals = await arrivalsWithin({ deliveries, patienceMs });
      const { length } = arrivals;
      if (length < deliveries) {
        throw new Error(
          `${length} of ${deliveries} deliveries arrived within ${Math.round(patienceMs / 1000)} s.`,
        );
      }
      return arrivals;
    },
    stop() {
      child.disconnect();
    },
  };
}
