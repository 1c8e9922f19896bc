/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Links into Temporal's UI. */
import type { Viewer } from './deps.ts';

interface Link {
  readonly name: string;
  readonly url: string;
}

/** Links that leave the console, in a new window; nothing if there are none. */
export function TemporalLinkList({ links }: { links: readonly Link[] }) {
  if (links.length === 0) return null;
  return (
    <section class="card" aria-labelledby="temporal">
      <h2 id="temporal">In the Temporal UI</h2>
      <ul class="stack links">
        {links.map(({ name, url }) => (
          <li>
            <a href={url} target="_blank" rel="noreferrer">
              {name}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Lists of workflows about a webhook or record of the page's e-shop; none for an e-shop's user. */
export function linksOf(
  { temporal, session }: Viewer,
  about: { readonly webhookId?: number; readonly entityId?: string } = {},
): readonly Link[] {
  return temporal?.lists(about, [session.eshopId]) ?? [];
}
