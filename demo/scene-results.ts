/** Results of a demonstration that are left to look at. */
import { commandAt } from '../src/app/banner.ts';
import { counted } from '../src/domain/text.ts';
import type { Scene } from './scenes.ts';

/** The webhook of a scene, with its counts. */
export interface SceneResult {
  readonly scene: Scene['name'];
  readonly webhookId: number;
  readonly title: string;
  readonly delivered: number;
  readonly failed: number;
  readonly canceled: number;
  readonly held: number;
}

/**
 * A description of the scenes, and where to find them.
 * @param url of the instance
 * @param dataDir its folder
 * @param others the e-shop's other active webhooks
 */
export function sceneResults(
  { url, dataDir }: { readonly url: string; readonly dataDir: string },
  results: readonly SceneResult[],
  others: number,
): string {
  const console = `${url.replace(/\/+$/, '')}/console`;
  const width = Math.max(...results.map(({ webhookId }) => String(webhookId).length));
  const countsOf = ({ delivered, failed, canceled, held }: SceneResult) =>
    [
      [delivered, 'delivered'],
      [failed, 'failed'],
      [canceled, 'given up'],
      [held, 'held'],
    ]
      .flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]))
      .join(', ');
  const gone = results.find(({ scene }) => scene === 'gone');
  return [
    `To look at in the console, ${console}:`,
    '',
    ...results.map(
      (result) =>
        `  webhook ${String(result.webhookId).padStart(width)}  ${result.title} (${countsOf(result) || 'no deliveries'})`,
    ),
    '',
    ...(gone === undefined ? [] : [`  Why nothing came for some orders: ${console}/events?arrived=no`, '']),
    `The demonstration's ${1 + results.length} webhooks are inactive now, so they cause no more requests or e-mails. ${commandAt(dataDir, 'demo --clean')} removes them.`,
    ...(others === 0
      ? []
      : [
          `The e-shop's ${others === 1 ? 'other active webhook' : `${others} other active webhooks`} got the demonstration's events as well.`,
        ]),
  ].join('\n');
}

/** The message after `--clean`. */
export function cleanMessage(removed: number): string {
  return removed === 0
    ? 'No webhook of a demonstration is left.'
    : `${counted(removed, 'webhook')} removed, with the deliveries and recoveries. Orders and other records stay: they are never deleted.`;
}
