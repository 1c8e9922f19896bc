/** The overview: deliveries, their speed, and problems that need attention. */
import * as v from 'valibot';
import { Pagination } from '../../api/pagination.ts';
import { type BlockedRecords, readBlockedRecords } from '../../db/console/blocked-records.ts';
import { type FoundLoop, readChangeLoop } from '../../db/console/change-loop.ts';
import { MAX_DELIVERIES_READ, readDeliveryCounts } from '../../db/console/delivery-counts.ts';
import type { DeliveryState } from '../../domain/delivery-state.ts';
import { duration } from '../../domain/duration.ts';
import { capital } from '../../domain/text.ts';
import { type WebhookRecord, webhookRecordSchema } from '../../domain/webhook.ts';
import { remembered } from '../../lib/remembered.ts';
import { Counts } from '../badges.tsx';
import type { ConsoleApp, ConsoleDeps } from '../deps.ts';
import { Page, respond } from '../layout.tsx';
import { Card, Empty, Live, recordPath, SHARED_READ_MS } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { TemporalLinkList } from '../temporal-links.tsx';
import { Ago } from '../times.tsx';
import { useViewer } from '../viewer.ts';
import { byUrgency, needsAttention, stateOf, TroubledWebhook } from '../webhooks/health.tsx';
import { Chart, type Range, rangeOf, ranges } from './chart.tsx';

const Counted = v.object({ pagination: Pagination });

function Incidents({ webhooks }: { webhooks: readonly WebhookRecord[] }) {
  const needing = byUrgency(webhooks.filter(needsAttention));
  if (needing.length === 0) return null;
  return (
    <Card id="incidents" title="Needs attention">
      <ul class="stack">
        {needing.map((webhook) => (
          <TroubledWebhook webhook={webhook} />
        ))}
      </ul>
    </Card>
  );
}

/** For the developer of an e-shop that has no webhook yet. */
function FirstSteps() {
  const viewer = useViewer();
  return (
    <Page title="Overview" here="">
      <h1>Overview</h1>
      <section class="card">
        <Empty
          title="No webhooks yet"
          more={
            <>
              <p>
                <a class="button main" href={`${CONSOLE}/webhooks/new`}>
                  Create a webhook
                </a>
              </p>
              {viewer.operator ? null : (
                <p>
                  Or use the API: the <a href="/docs/guides/quickstart">quickstart</a> leads to a first signed
                  delivery, and the <a href="/docs">documentation</a> has every operation.
                </p>
              )}
            </>
          }
        >
          A webhook calls your URL when something happens to an order, a product or the stock. Create one, and
          send it a test.
        </Empty>
      </section>
      <TemporalLinkList />
    </Page>
  );
}

/** Deliveries held up by the ordering of their record, if there are any. */
function Behind({ blocked: { records, since } }: { blocked: BlockedRecords }) {
  if (since === null) return null;
  return (
    <p class="note">
      <a href={`${CONSOLE}/deliveries?state=pending`}>
        {records === 1 ? 'One record has' : `${count(records)} records have`} deliveries
      </a>{' '}
      that wait for an older one, because their webhooks keep an order; the longest since{' '}
      <Ago at={since.toISOString()} />.
    </p>
  );
}

/** A record that a receiver may be changing endlessly, because it reacts to its own changes. */
function Loop({ loop }: { loop: FoundLoop | null }) {
  if (loop === null) return null;
  const { kind, type, entityId, changes } = loop;
  return (
    <p class="note">
      {capital(kind)} <a href={recordPath(type, entityId)}>{entityId}</a> was changed {count(changes)} times
      within the last minute. If a receiver answers events with changes to the same record, it never stops:
      make it compare before it writes, or give its webhook <code>skipOwn</code>.
    </p>
  );
}

function count(total: number): string {
  return total >= 10_000 ? '10,000+' : total.toLocaleString('en-US');
}

export function overviewRoutes(app: ConsoleApp, { sql }: ConsoleDeps): void {
  const countsOf = remembered(
    SHARED_READ_MS,
    (eshopId: number, { seconds, stepSeconds }: Range, now: Date) =>
      readDeliveryCounts(sql, eshopId, { since: new Date(now.getTime() - seconds * 1_000), stepSeconds }),
    (eshopId, { name }) => `${eshopId} ${name}`,
  );
  app.get('/', async (c) => {
    const { api, viewer } = c.var;
    const range = rangeOf(c.req.query('range'));
    const webhooks = await api.get(v.array(webhookRecordSchema), '/v21/webhooks');
    if (webhooks.length === 0) return respond(c, <FirstSteps />);
    const inState = async (state: DeliveryState) =>
      (await api.list(Counted, '/v21/deliveries', { state, items: '1' })).pagination.totalCount;
    const [counts, blocked, loop, pending, retrying, held] = await Promise.all([
      countsOf(viewer.session.eshopId, range, viewer.now),
      readBlockedRecords(sql, viewer.session.eshopId),
      readChangeLoop(sql, viewer.session.eshopId),
      inState('pending'),
      inState('retrying'),
      inState('held'),
    ]);
    const { steps, whole, p95Ms, medianMs, measured } = counts;
    const failing = webhooks.filter((webhook) => stateOf(webhook) === 'failing').length;
    const speed = p95Ms === null ? '–' : duration(p95Ms);
    return respond(
      c,
      <Page title="Overview" here="">
        <div class="top">
          <h1>Overview</h1>
          <nav class="tabs" aria-label="Time range">
            {ranges.map(({ name, title }) => (
              <a
                href={`${CONSOLE}?range=${name}`}
                {...(name === range.name ? { 'aria-current': 'true' as const } : {})}
              >
                {title}
              </a>
            ))}
          </nav>
        </div>
        <Live id="counts" path={`${CONSOLE}?range=${range.name}`}>
          <div class="stack">
            <Counts
              counts={[
                ['waiting for first attempt', count(pending), '/deliveries?state=pending'],
                ['being retried', count(retrying), '/deliveries?state=retrying'],
                ['held', count(held), '/deliveries?state=held'],
                [
                  `${failing === 1 ? 'webhook' : 'webhooks'} failing`,
                  String(failing),
                  '/webhooks?state=failing',
                ],
                ['95th percentile of response times', speed, null],
              ]}
            />
            <Behind blocked={blocked} />
            <Loop loop={loop} />
            <Incidents webhooks={webhooks} />
            <Card id="chart" title={`Deliveries ${range.step}`}>
              <Chart steps={steps} range={range} now={viewer.now} />
              {whole ? null : (
                <p class="quiet small">
                  Based on the latest {MAX_DELIVERIES_READ.toLocaleString('en-US')} deliveries; there are
                  more.
                </p>
              )}
              {medianMs === null ? null : (
                <p class="quiet small">
                  Of the latest {measured.toLocaleString('en-US')} attempts, half got a response within{' '}
                  {duration(medianMs)}, and 95% within {speed}.
                </p>
              )}
            </Card>
          </div>
        </Live>
        <TemporalLinkList />
      </Page>,
    );
  });
}
