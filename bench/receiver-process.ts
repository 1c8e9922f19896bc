/**
 * The receiver as its parent sees it.
 * @module
 */
import { fork } from 'node:child_process';
import type { Arrivals, ArrivalsWanted, ReceiverMessage } from './receiver.ts';

/** A receiver in a process of its own. */
export interface ReceiverProcess {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly pid: number;
  /**
   * The deliveries that arrived since the last call, once there are so many.
   * @throws Error after `patienceMs`, saying how many there were
   */
  arrivals(deliveries: number, patienceMs: number): Promise<Arrivals>;
  stop(): void;
}

/** Starts `receiver.ts` and waits until it listens. */
export async function startReceiver(): Promise<ReceiverProcess> {
  const child = fork(new URL('./receiver.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  const { pid } = child;
  if (pid === undefined) throw new Error('The receiver could not be started.');
  const next = () => new Promise<ReceiverMessage>((resolve) => child.once('message', resolve));
  const listening = await next();
  if (listening.kind !== 'listening') throw new Error('The receiver does not listen.');
  return {
    url: `http://127.0.0.1:${listening.port}`,
    pid,
    async arrivals(deliveries, patienceMs) {
      const answer = next();
      await new Promise<void>((resolve, reject) => {
        const asked: ArrivalsWanted = { deliveries, patienceMs };
        child.send(asked, (error) => (error === null ? resolve() : reject(error)));
      });
      const message = await answer;
      if (message.kind !== 'arrivals') throw new Error('The receiver did not answer what it was asked.');
      const { length } = message.arrivals.first;
      if (length < deliveries) {
        throw new Error(`${length} of ${deliveries} deliveries arrived within ${patienceMs / 1000} s.`);
      }
      return message.arrivals;
    },
    stop() {
      child.disconnect();
    },
  };
}
