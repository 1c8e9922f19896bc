/** How a Temporal server is reached: from the settings to what a connection takes. */
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import type { TLSConfig } from '@temporalio/client';
import { ConfigError } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';

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
    throw new ConfigError(`${name} ${path} cannot be read.`);
  });
}

/**
 * @param address `host:port`; of the embedded server where `TEMPORAL_ADDRESS` is unset
 * @throws ConfigError where a file cannot be read
 */
export async function temporalTarget(settings: Settings, address: string): Promise<TemporalTarget> {
  const [ca, crt, key] = await Promise.all([
    fileOf(settings, 'TEMPORAL_TLS_CA_FILE'),
    fileOf(settings, 'TEMPORAL_TLS_CERT_FILE'),
    fileOf(settings, 'TEMPORAL_TLS_KEY_FILE'),
  ]);
  const secured =
    settings.TEMPORAL_TLS || settings.TEMPORAL_API_KEY !== undefined || ca !== undefined || crt !== undefined;
  return {
    address,
    namespace: settings.TEMPORAL_NAMESPACE,
    taskQueue: settings.TEMPORAL_TASK_QUEUE,
    ...(settings.TEMPORAL_API_KEY === undefined ? {} : { apiKey: settings.TEMPORAL_API_KEY }),
    ...(secured
      ? {
          tls: {
            serverRootCACertificate: ca ?? (await trustedRoots()),
            ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
          },
        }
      : {}),
  };
}

/**
 * Node's authorities and those of `NODE_EXTRA_CA_CERTS`, as one file in PEM. Temporal's core would ask the system, which in an
 * image without `ca-certificates` knows none, while all other connections are checked against these.
 */
async function trustedRoots(extraFile = process.env.NODE_EXTRA_CA_CERTS): Promise<Buffer> {
  // One that cannot be read is no reason to fail: Node has warned of it.
  const extra = extraFile ? await readFile(extraFile, 'utf8').catch(() => '') : '';
  return Buffer.from([...rootCertificates, extra].join('\n'));
}

/** What a connection to it takes, from a worker as from a client. */
export function connectionOptions({ address, tls, apiKey }: TemporalTarget) {
  return { address, ...(tls === undefined ? {} : { tls }), ...(apiKey === undefined ? {} : { apiKey }) };
}
