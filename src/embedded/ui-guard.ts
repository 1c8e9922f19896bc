/**
 * A proxy in front of the embedded Temporal's UI. That UI accepts any host name, so a foreign page whose name
 * resolves to this machine (DNS rebinding) could read and end all workflows. The proxy accepts only our own.
 */
import { randomInt } from 'node:crypto';
import { createServer, request } from 'node:http';
import { listen } from '../lib/listen.ts';
import { isLocalHost } from '../lib/local-host.ts';
import { freePort } from './ports.ts';

/** Where the UI itself listens. */
export interface HiddenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * An address of this machine that no page can guess: on Linux all of 127.0.0.0/8 is local. Elsewhere only the port
 * is secret.
 * @throws UserError if the system finds no free port
 */
export async function hiddenAddress(): Promise<HiddenAddress> {
  const host =
    process.platform === 'linux'
      ? `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`
      : '127.0.0.1';
  return { host, port: await freePort(0, host) };
}

/** @param preferredPort used if it is free */
export async function startUiGuard(ui: HiddenAddress, preferredPort = 0) {
  const server = createServer((incoming, outgoing) => {
    const refuse = (status: number, message: string) => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${message}\n`);
    };
    if (!isLocalHost(incoming.headers.host)) {
      return refuse(403, "Open Temporal's UI at 127.0.0.1 or localhost.");
    }
    const { method, url: path, headers } = incoming;
    const passed = request({ ...ui, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    passed.on('error', () =>
      refuse(502, "Temporal's UI is not answering: its server is starting, or has stopped."),
    );
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  return await listen(server, preferredPort).catch(() => listen(server, 0));
}
