/** Links into Temporal's UI. */
import type { TemporalLinks } from './deps.ts';
import { Card } from './parts.tsx';
import { useViewer } from './viewer.ts';

/**
 * Links to lists of workflows, which open in a new window; nothing for an e-shop's user.
 * @param about a webhook or record
 * @param eshops whose workflows: by default those of the page's e-shop, null for all
 * @param workflow that of one delivery, which comes first
 */
export function TemporalLinkList(props: {
  about?: Parameters<TemporalLinks['lists']>[0];
  eshops?: readonly number[] | null;
  workflow?: string;
}) {
  const { temporal, session } = useViewer();
  const { about = {}, eshops = [session.eshopId], workflow } = props;
  const first = workflow === undefined ? [] : [{ name: 'Workflow of this delivery', url: workflow }];
  const links = [...first, ...(temporal?.lists(about, eshops) ?? [])];
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
