/**
 * Requests that a client pipelines on one connection. Node would begin them all at once, and make their responses
 * before the first is read.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Requests of one connection in progress at the same time; others wait for one of them to end. */
export const MAX_IN_PROGRESS = 32;
/** Waiting requests of one connection. A connection that sends more is closed: no client pipelines so many. */
export const MAX_QUEUED_REQUESTS = 1_000;

export function createPipelines() {
  const pipelines = new WeakMap<Duplex, { inProgress: number; readonly waiting: (() => void)[] }>();

  /** Begins the request of a response at once, or once earlier ones have made room. */
  return (socket: Duplex, outgoing: ServerResponse, begin: () => void): void => {
    const pipeline = pipelines.get(socket) ?? { inProgress: 0, waiting: [] };
    pipelines.set(socket, pipeline);
    const { waiting } = pipeline;
    const start = () => {
      pipeline.inProgress += 1;
      outgoing.once('close', () => {
        pipeline.inProgress -= 1;
        if (socket.destroyed) waiting.length = 0;
        else waiting.shift()?.();
      });
      begin();
    };
    if (pipeline.inProgress < MAX_IN_PROGRESS) start();
    else if (waiting.length < MAX_QUEUED_REQUESTS) waiting.push(start);
    else {
      waiting.length = 0;
      socket.destroy();
    }
  };
}
