/** All e-shops at a glance: webhooks that need attention, and waiting deliveries. */
import type { Child } from 'hono/jsx';
import { recordOf } from '../../api/webhooks/record.ts';
import { listAllWebhooks, type OperatorsWebhook, openByState } from '../../db/webhooks/all-webhooks.ts';
import type { DeliveryState } from '../../domain/delivery-state.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { remembered } from '../../lib/remembered.ts';
import { queryText } from '../api-client.ts';
import { Counts } from '../badges.tsx';
import type { ConsoleApp, ConsoleDeps, InstallationStatus } from '../deps.ts';
import { Page, respond } from '../layout.tsx';
import { Card, Code, Empty, Facts, Live, SHARED_READ_MS, Table } from '../parts.tsx';
import { ALL, CONSOLE } from '../session.ts';
import { TemporalLinkList } from '../temporal-links.tsx';
import { useViewer } from '../viewer.ts';
import { needsAttention, TroubledWebhook } from '../webhooks/health.tsx';
import { scopeOf, titlesOf } from './scope.ts';

const CREATE = 'npx --no waybill eshop create --name NAME --email ADDRESS';
/** The maximum number of webhooks shown as needing attention: if there are more, the problem is elsewhere. */
const MAX_SHOWN = 50;
const MAX_WEBHOOKS_LISTED = 10_000;

const nothing = { webhooks: 0, troubled: 0, pending: 0, retrying: 0, held: 0 };

/** A webhook, also as its own pages show it. */
type Shown = OperatorsWebhook & { readonly record: WebhookRecord };

function sums(webhooks: readonly Shown[]): ReadonlyMap<number, typeof nothing> {
  const found = new Map<number, typeof nothing>();
  for (const webhook of webhooks) {
    const { pending, retrying, held } = openByState(webhook);
    const counts = found.get(webhook.eshopId) ?? { ...nothing };
    found.set(webhook.eshopId, counts);
    counts.webhooks += 1;
    if (needsAttention(webhook.record)) counts.troubled += 1;
    counts.pending += pending;
    counts.retrying += retrying;
    counts.held += held;
  }
  return found;
}

function count(total: number, path: string): Child {
  return total === 0 ? '0' : <a href={path}>{total.toLocaleString('en-US')}</a>;
}

function Eshops({ webhooks }: { webhooks: readonly Shown[] }) {
  const { eshops } = useViewer();
  const found = sums(webhooks);
  const list = (eshopId: number, state: DeliveryState) =>
    `${CONSOLE}${ALL}/deliveries${queryText({ among: String(eshopId), state })}`;
  return (
    <Card id="eshops" title="E-shops">
      <Table
        label="E-shops, as a table"
        columns={['E-shop']}
        numbers={['Webhooks', 'Need attention', 'Pending', 'Retrying', 'Held']}
      >
        {eshops.map(({ id, name }) => {
          const counts = found.get(id) ?? nothing;
          return (
            <tr>
              <th scope="row">
                <a href={`${CONSOLE}?eshop=${id}`}>
                  {id} · {name}
                </a>
              </th>
              <td class="number">{count(counts.webhooks, `${CONSOLE}/webhooks?eshop=${id}`)}</td>
              <td class="number">
                {count(counts.troubled, `${CONSOLE}${ALL}/webhooks?among=${id}&trouble=true`)}
              </td>
              <td class="number">{count(counts.pending, list(id, 'pending'))}</td>
              <td class="number">{count(counts.retrying, list(id, 'retrying'))}</td>
              <td class="number">{count(counts.held, list(id, 'held'))}</td>
            </tr>
          );
        })}
      </Table>
    </Card>
  );
}

/** The installation itself, as in `waybill status`: the most important facts, above the e-shops. */
function Installation({ problems, counts }: InstallationStatus) {
  return (
    <>
      {problems.length === 0 ? (
        <p class="note good">The installation itself is healthy.</p>
      ) : (
        <section class="note bad" aria-label="Needs attention">
          <ul class="stack">
            {problems.map((problem) => (
              <li>{problem}</li>
            ))}
          </ul>
        </section>
      )}
      <Counts counts={counts} under={ALL} />
    </>
  );
}

export function overviewOfAll(app: ConsoleApp, { sql, policy, operator }: ConsoleDeps): void {
  const webhooksIn = remembered(
    SHARED_READ_MS,
    async (among: ReturnType<typeof scopeOf>): Promise<Shown[]> =>
      (await listAllWebhooks(sql, { among }, MAX_WEBHOOKS_LISTED)).map((webhook) => ({
        ...webhook,
        record: recordOf(policy, webhook),
      })),
    String,
  );
  app.get(ALL, async (c) => {
    const { viewer } = c.var;
    const titles = titlesOf(viewer);
    const [webhooks, status] = await Promise.all([
      webhooksIn(scopeOf(viewer)),
      viewer.operator ? operator?.installation() : undefined,
    ]);
    const needing = webhooks.filter(({ record }) => needsAttention(record));
    return respond(
      c,
      <Page title="All e-shops" here={ALL}>
        <div class="top">
          <h1>All e-shops</h1>
        </div>
        <Live id="everything" path={`${CONSOLE}${ALL}`}>
          <div class="stack">
            {status === undefined ? null : <Installation {...status} />}
            <Card id="incidents" title="Webhooks that need attention">
              {needing.length === 0 ? (
                <p class="quiet">None: no active webhook is failing.</p>
              ) : (
                <ul class="stack">
                  {needing.slice(0, MAX_SHOWN).map(({ record, eshopId }) => (
                    <TroubledWebhook webhook={record} eshop={titles(eshopId)} />
                  ))}
                </ul>
              )}
              {needing.length <= MAX_SHOWN ? null : (
                <p>
                  <a href={`${CONSOLE}${ALL}/webhooks?trouble=true`}>All {needing.length} of them</a>
                </p>
              )}
            </Card>
            {viewer.eshops.length === 0 ? (
              <Empty title="No e-shops yet" more={<Code text={CREATE} label="Create an e-shop" />}>
                The first one, with its API key and users:
              </Empty>
            ) : (
              <Eshops webhooks={webhooks} />
            )}
            {webhooks.length < MAX_WEBHOOKS_LISTED ? null : (
              <p class="note">
                Only the first {MAX_WEBHOOKS_LISTED.toLocaleString('en-US')} webhooks are counted.
              </p>
            )}
            {status === undefined ? null : (
              <Card id="installation" title="The installation">
                <Facts facts={status.rows} />
              </Card>
            )}
          </div>
        </Live>
        <TemporalLinkList eshops={scopeOf(viewer) ?? null} />
      </Page>,
    );
  });
}
