/** The text that is printed once Waybill is ready. */
import { variables } from '../config/variables.ts';
import type { EshopCredentials } from './accounts.ts';

interface Ready {
  readonly apiUrl: string | null;
  readonly metricsUrl: string;
  readonly temporalUiUrl: string | null;
  /** `host:port`, for gRPC. */
  readonly temporalAddress: string;
  readonly mailDirectory: string | null;
  readonly allowCidrs: readonly string[];
  readonly demonstration: EshopCredentials | null;
  readonly dataDir: string;
}

/**
 * A `waybill` command as a person types it. It finds the instance by its folder, which is named unless it is the
 * default. An image (see the Dockerfile) has no npm project, and names the folder already.
 */
export function commandAt(dataDir: string, command: string): string {
  if (process.env.WAYBILL_IMAGE !== undefined) return `docker exec CONTAINER waybill ${command}`;
  const prefix = dataDir === variables.entries.DATA_DIR.default ? '' : `DATA_DIR=${dataDir} `;
  return `${prefix}npx --no waybill ${command}`;
}

const demoCommand = (dataDir: string) => commandAt(dataDir, 'demo --receive');

/** For a first start. */
function whereToLook({ apiUrl, demonstration, dataDir }: Ready): string[] {
  if (apiUrl === null || demonstration === null) return [];
  const { eshopId, username } = demonstration;
  return [
    `To see it at work: ${demoCommand(dataDir)}`,
    `then sign in to ${apiUrl}/console as ${username} of e-shop ${eshopId}. First steps of your own: ${apiUrl}/docs`,
    '',
  ];
}

/** The text, with a trailing line break. */
export function banner(ready: Ready): string {
  const lines: [string, string][] = [];
  if (ready.apiUrl !== null) {
    lines.push(['API', `${ready.apiUrl}/v21`]);
    lines.push(['Docs', `${ready.apiUrl}/docs`], ['Console', `${ready.apiUrl}/console`]);
  }
  lines.push(['Metrics', `${ready.metricsUrl}/metrics`]);
  if (ready.temporalUiUrl !== null) lines.push(['Temporal UI', ready.temporalUiUrl]);
  if (ready.temporalAddress !== '') lines.push(['Temporal gRPC', ready.temporalAddress]);
  if (ready.mailDirectory !== null) lines.push(['Mails', `${ready.mailDirectory}/*.eml`]);
  if (ready.allowCidrs.length > 0)
    lines.push(['Private receivers', `allowed in ${ready.allowCidrs.join(', ')}`]);
  if (ready.demonstration !== null) {
    const { eshopId, apiKey, username, password, warehouse } = ready.demonstration;
    lines.push(
      ['E-shop', `${eshopId} (demonstration)`],
      ['x-api-key', apiKey],
      ['Shop user', `${username} / ${password}`],
      ['Warehouse user', `${warehouse.username} / ${warehouse.password}`],
      ['Demonstration', demoCommand(ready.dataDir)],
    );
  }
  const width = Math.max(...lines.map(([name]) => name.length), 0);
  return [
    '',
    'Waybill is ready.',
    '',
    ...lines.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    '',
    ...whereToLook(ready),
  ].join('\n');
}
