/**
 * How a Temporal server is reached: from the settings to what a connection takes.
 * @module
 */
import { readFile } from 'node:fs/promises';
import type { TLSConfig } from '@temporalio/client';
import type { Settings } from '../config.ts';

/** How a Temporal server is reached. */
export interface TemporalTarget {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly tls?: TLSConfig;
  readonly apiKey?: string;
}

/**
 * Reads what the settings name.
 * @param address `host:port`; of the embedded server where `TEMPORAL_ADDRESS` is unset
 */
export async function temporalTarget(settings: Settings, address: string): Promise<TemporalTarget> {
  const file = (path: string | undefined) => (path === undefined ? undefined : readFile(path));
  const [ca, crt, key] = await Promise.all([
    file(settings.TEMPORAL_TLS_CA_FILE),
    file(settings.TEMPORAL_TLS_CERT_FILE),
    file(settings.TEMPORAL_TLS_KEY_FILE),
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
            ...(ca === undefined ? {} : { serverRootCACertificate: ca }),
            ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
          },
        }
      : {}),
  };
}

/** What a connection to it takes, from a worker as from a client. */
export function connectionOptions({ address, tls, apiKey }: TemporalTarget) {
  return { address, ...(tls === undefined ? {} : { tls }), ...(apiKey === undefined ? {} : { apiKey }) };
}
