/** Links into Temporal's UI. */

import type { TemporalLinks, Viewer } from './deps.ts';
import { Card } from './parts.tsx';

type Lists = TemporalLinks['lists'];

/** Links that leave the console, in a new window; nothing if there are none. */
export function TemporalLinkList({ links }: { links: ReturnType<Lists> }) {
  if (links.length === 0) return null;
  return (
    <Card id="temporal" title="In the Temporal UI">
      <ul class="stack links">
        {links.map(({ name, url }) => (
          <li>
            <a href={url} target="_blank" rel="noreferrer">
              {name}
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Lists of workflows about a webhook or record of the page's e-shop; none for an e-shop's user. */
export function linksOf({ temporal, session }: Viewer, about: Parameters<Lists>[0] = {}): ReturnType<Lists> {
  return temporal?.lists(about, [session.eshopId]) ?? [];
}
