/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The installation itself, as `waybill status` shows it. */
import type { Child } from 'hono/jsx';
import { Facts } from '../parts.tsx';
import { ALL, CONSOLE } from '../session.ts';
import type { InstallationLook } from './deps.ts';

function Count({ name, value, path }: { name: string; value: string; path: string | null }) {
  const content = (
    <>
      <strong>{value}</strong>
      <span>{name}</span>
    </>
  );
  return path === null ? (
    <div class="card count">{content}</div>
  ) : (
    <a class="card count" href={`${CONSOLE}${ALL}${path}`}>
      {content}
    </a>
  );
}

const shown = (count: number) => count.toLocaleString('en-US');

function countsOf({
  work,
  workers,
}: InstallationLook): readonly (readonly [string, string, string | null])[] {
  const seen: readonly [string, string, null] = [
    workers === 1 ? 'worker seen' : 'workers seen',
    workers === null ? '–' : shown(workers),
    null,
  ];
  if (work === null) return [seen];
  const { waiting, oldest, pending, retrying, held, incidents, recoveries } = work;
  return [
    [oldest === null ? 'in the outbox' : `in the outbox, the oldest for ${oldest}`, shown(waiting), null],
    ['waiting for first attempt', shown(pending), '/deliveries?state=pending'],
    ['being retried', shown(retrying), '/deliveries?state=retrying'],
    ['held', shown(held), '/deliveries?state=held'],
    [incidents === 1 ? 'webhook failing' : 'webhooks failing', shown(incidents), '/webhooks?trouble=true'],
    [recoveries === 1 ? 'recovery under way' : 'recoveries under way', shown(recoveries), '/recoveries'],
    seen,
  ];
}

export function installationParts(look: InstallationLook): { above: Child; below: Child } {
  const { needs, rows } = look;
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
          {countsOf(look).map(([name, value, path]) => (
            <Count name={name} value={value} path={path} />
          ))}
        </div>
      </>
    ),
    below: (
      <section class="card" aria-labelledby="installation">
        <h2 id="installation">The installation</h2>
        <Facts facts={rows} />
      </section>
    ),
  };
}
