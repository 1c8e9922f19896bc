/** The Temporal dev server of `npm start` on a bare machine and of the tests. */
import { randomUUID } from 'node:crypto';
import { searchAttributeTypes } from '../temporal/search-attributes.ts';
import { withoutProxy } from '../temporal/target.ts';
import { freePort, listeningPorts } from './ports.ts';
import { type ServiceOptions, startOnFreePorts, startService } from './service.ts';
import { type HiddenAddress, hiddenAddress, startUiGuard } from './ui-guard.ts';

/**
 * Temporal's dynamic configuration, beyond the defaults: key → JSON value. `temporal-dynamic-config.yaml` has the
 * same for the server of `docker-compose.temporal.yml`.
 */
export const DYNAMIC_CONFIG: Readonly<Record<string, string | number | boolean>> = {
  // How often timers are checked; with the default of a second, every shorter wait would last a second.
  'history.timerProcessorMaxTimeShift': '1ms',
  // A queue of timers that is read this often within a second counts as stuck, and its timers of that second go to
  // a slow reader (docs/decisions/0024). 0: no queue counts as stuck.
  'history.queueReaderStuckCriticalAttempts': 0,
  // The first attempt starts on the worker that scheduled it, without passing through the task queue. Older
  // servers, such as 1.29, need the setting.
  'system.enableActivityEagerExecution': true,
  // Waiting tasks are dispatched by priority, and then from each e-shop in turn (workflows/priorities.ts).
  'matching.enableFairness': true,
  // Waiting tasks are written into one partition instead of four, so that turns are taken in the whole task queue:
  // each partition takes its own turns.
  'matching.numTaskqueueWritePartitions': 1,
  // Tasks are read from that partition alone: each poll of the three empty ones would cost the server time.
  'matching.numTaskqueueReadPartitions': 1,
};

export type EmbeddedTemporal = Awaited<ReturnType<typeof startTemporal>>;

interface EmbeddedTemporalOptions extends Pick<ServiceOptions, 'logFile' | 'pidFile' | 'onEvent' | 'signal'> {
  /** From `findTemporal`. */
  readonly binary: string;
  /** Stores the workflows; without it they are kept in memory. */
  readonly databaseFile?: string;
  /** False: no UI. Default true. */
  readonly ui?: boolean;
  /** Used if it is free. */
  readonly preferredPort?: number;
  readonly preferredUiPort?: number;
  /** Dynamic configuration in addition to {@link DYNAMIC_CONFIG}. */
  readonly dynamicConfig?: typeof DYNAMIC_CONFIG;
  /** Called while the server starts, to load modules, which would otherwise delay the start. */
  readonly whileStarting?: (() => Promise<unknown>) | undefined;
}

/** Closing its database takes well under a second, unless it is stuck. */
export const TEMPORAL_STOP_MS = 10_000;
const READY_TIMEOUT_MS = 60_000;
const PROBE_MS = 2_000;

/** Loading it takes longer than all our other modules, so it is loaded while the server starts. */
const loadClient = () => import('@temporalio/client');

/** True if the default namespace exists and knows our search attributes. */
async function serves(address: string): Promise<boolean> {
  const { Connection } = await loadClient();
  const connection = await Connection.connect({ address, connectTimeout: PROBE_MS, ...withoutProxy });
  try {
    return await connection.withDeadline(Date.now() + PROBE_MS, async () => {
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      const { customAttributes } = await connection.operatorService.listSearchAttributes({
        namespace: 'default',
      });
      return Object.keys(searchAttributeTypes).every((name) => name in (customAttributes ?? {}));
    });
  } finally {
    await connection.close();
  }
}

/**
 * Makes the dev server's SQLite flush at checkpoints instead of in every transaction, for nearly twice the
 * deliveries per second. A killed process loses nothing; a power cut may lose the last moments, which Waybill's own
 * database still has.
 */
const SQLITE_PRAGMAS = { journal_mode: 'WAL', synchronous: 'NORMAL' };

/** As typed on a command line. @example flags({ port: 7233 }) // ['--port', '7233'] */
const flags = (options: Readonly<Record<string, string | number>>) =>
  Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
/** One flag for each entry, as `name=value`. */
const each = <T>(flag: string, entries: Readonly<Record<string, T>>, written: (value: T) => string) =>
  Object.entries(entries).flatMap(([name, value]) => [`--${flag}`, `${name}=${written(value)}`]);

/** Starts a dev server on 127.0.0.1 that serves workflows. @throws UserError with its last output if it does not */
export const startTemporal = (options: EmbeddedTemporalOptions) => startOnFreePorts(() => startOnce(options));

async function startOnce(options: EmbeddedTemporalOptions) {
  if (options.ui === false) return { ...(await startServer(options, null)), uiPort: null };
  const hidden = await hiddenAddress();
  const guard = await startUiGuard(hidden, options.preferredUiPort);
  try {
    const server = await startServer(options, hidden);
    return {
      ...server,
      /** The port of the guard in front of the UI; null without a UI. */
      uiPort: guard.port,
      ports: () => [...server.ports(), guard.port],
      async stop() {
        await guard.close();
        await server.stop();
      },
    };
  } catch (error) {
    await guard.close();
    throw error;
  }
}

/** @param ui the address of its UI; null: no UI */
async function startServer(options: EmbeddedTemporalOptions, ui: HiddenAddress | null) {
  const port = await freePort(options.preferredPort);
  // Unused, but chosen here, so that webhooks can be kept away from them.
  const httpPort = await freePort();
  const metricsPort = await freePort();
  const chosen = [port, httpPort, metricsPort, ...(ui === null ? [] : [ui.port])];
  const address = `127.0.0.1:${port}`;
  const { databaseFile } = options;
  // Its HTTP API accepts only a host name that nobody knows.
  const closed = { 'frontend.httpAllowedHosts': [`${randomUUID()}.waybill`] };
  const config = { ...DYNAMIC_CONFIG, ...options.dynamicConfig, ...closed };
  let ports: readonly number[] = chosen;
  const service = await startService({
    ...options,
    name: 'Temporal',
    command: options.binary,
    args: [
      'server',
      'start-dev',
      ...flags({ ip: '127.0.0.1', port, 'http-port': httpPort, 'metrics-port': metricsPort }),
      ...(ui === null ? ['--headless'] : flags({ 'ui-ip': ui.host, 'ui-port': ui.port })),
      ...(databaseFile === undefined
        ? []
        : [...flags({ 'db-filename': databaseFile }), ...each('sqlite-pragma', SQLITE_PRAGMAS, String)]),
      ...flags({ 'log-level': 'error' }),
      ...each('dynamic-config-value', config, (value) => JSON.stringify(value)),
      ...each('search-attribute', searchAttributeTypes, String),
    ],
    ready: async (pid) => {
      await Promise.all([loadClient(), options.whileStarting?.()]);
      const listening = await listeningPorts(pid);
      // Another server may have bound a port that we found free, and answer there.
      if (!chosen.every((each) => listening.includes(each)) || !(await serves(address))) return false;
      ports = await listeningPorts(pid);
      return true;
    },
    readyTimeoutMs: READY_TIMEOUT_MS,
    stopTimeoutMs: TEMPORAL_STOP_MS,
  });
  return {
    ...service,
    /** `host:port` of the gRPC frontend. */
    address,
    port,
    /** All ports on which it listens: gRPC, HTTP, metrics, UI, and those of its services, which it chooses. */
    ports: () => ports,
  };
}
