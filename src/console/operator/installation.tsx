/** The installation itself, as in `waybill status`. */
import type { Child } from 'hono/jsx';
import { Count } from '../badges.tsx';
import { Card, Facts } from '../parts.tsx';
import { ALL } from '../session.ts';
import type { InstallationStatus } from './deps.ts';

const shown = (count: number) => count.toLocaleString('en-US');

function countsOf(status: InstallationStatus): readonly (readonly [string, string, string | null])[] {
  const { waiting, oldest, pending, retrying, held, incidents, recoveries, workers } = status;
  return [
    [oldest === null ? 'in the queue' : `in the queue, the oldest for ${oldest}`, shown(waiting), null],
    ['waiting for first attempt', shown(pending), '/deliveries?state=pending'],
    ['being retried', shown(retrying), '/deliveries?state=retrying'],
    ['held', shown(held), '/deliveries?state=held'],
    [incidents === 1 ? 'webhook failing' : 'webhooks failing', shown(incidents), '/webhooks?trouble=true'],
    [recoveries === 1 ? 'recovery under way' : 'recoveries under way', shown(recoveries), '/recoveries'],
    [workers === 1 ? 'worker seen' : 'workers seen', workers === null ? '–' : shown(workers), null],
  ];
}

export function installationParts(status: InstallationStatus): { above: Child; below: Child } {
  const { needs, rows } = status;
  return {
    above: (
      <>
        {needs.length === 0 ? (
          <p class="note good">The installation itself is healthy.</p>
        ) : (
          <section class="note bad" aria-label="Needs attention">
            <ul class="stack">
              {needs.map((need) => (
                <li>{need}</li>
              ))}
            </ul>
          </section>
        )}
        <div class="cards">
          {countsOf(status).map(([name, value, path]) => (
            <Count name={name} value={value} path={path === null ? null : `${ALL}${path}`} />
          ))}
        </div>
      </>
    ),
    below: (
      <Card id="installation" title="The installation">
        <Facts facts={rows} />
      </Card>
    ),
  };
}
