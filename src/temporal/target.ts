/** The connection to a Temporal server: from the settings to the connection's options. */
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import type { TLSConfig } from '@temporalio/client';
import type { Settings } from '../config/variables.ts';
import { UserError } from '../lib/user-error.ts';

export interface TemporalTarget {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly tls?: TLSConfig;
  readonly apiKey?: string;
}

async function fileOf(
  settings: Settings,
  name: 'TEMPORAL_TLS_CA_FILE' | 'TEMPORAL_TLS_CERT_FILE' | 'TEMPORAL_TLS_KEY_FILE',
): Promise<Buffer | undefined> {
  const path = settings[name];
  if (path === undefined) return undefined;
  return await readFile(path).catch(() => {
    throw new UserError(`${name} ${path} cannot be read.`);
  });
}

/**
 * @param address `host:port`, that of the embedded server if `TEMPORAL_ADDRESS` is unset
 * @throws UserError if a file cannot be read
 */
export async function temporalTarget(settings: Settings, address: string): Promise<TemporalTarget> {
  const {
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_TASK_QUEUE: taskQueue,
    TEMPORAL_API_KEY: apiKey,
  } = settings;
  const target = { address, namespace, taskQueue, ...(apiKey === undefined ? {} : { apiKey }) };
  const [ca, crt, key] = await Promise.all([
    fileOf(settings, 'TEMPORAL_TLS_CA_FILE'),
    fileOf(settings, 'TEMPORAL_TLS_CERT_FILE'),
    fileOf(settings, 'TEMPORAL_TLS_KEY_FILE'),
  ]);
  if (!settings.TEMPORAL_TLS && apiKey === undefined && ca === undefined && crt === undefined) return target;
  const client = crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } };
  return { ...target, tls: { serverRootCACertificate: ca ?? (await trustedRoots()), ...client } };
}

/**
 * Node's certificate authorities and those of `NODE_EXTRA_CA_CERTS`, as one PEM file: our other connections use them.
 * Temporal's core would use the system's, and an image without `ca-certificates` has none.
 */
async function trustedRoots(): Promise<Buffer> {
  // An unreadable file is no reason to fail: Node has warned about it.
  const extra = await readFile(process.env.NODE_EXTRA_CA_CERTS ?? '', 'utf8').catch(() => '');
  return Buffer.from([...rootCertificates, extra].join('\n'));
}

/** The options of a connection, for a worker or a client. */
export function connectionOptions({ address, tls, apiKey }: TemporalTarget) {
  return { address, ...(tls === undefined ? {} : { tls }), ...(apiKey === undefined ? {} : { apiKey }) };
}

/**
 * For each connection of a client: like a worker's, it ignores `http_proxy` and similar variables. Otherwise the
 * library would ask the proxy even for a server on this machine.
 */
export const withoutProxy = { channelArgs: { 'grpc.enable_http_proxy': 0 } } as const;
