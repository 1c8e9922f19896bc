/** The deliveries of all e-shops of a person, to find and act on together. */
import { recordOf } from '../../api/deliveries/record.ts';
import type { OperatorsDelivery } from '../../db/deliveries/deliveries-of-eshops.ts';
import { type ActionName, actionNames, MAX_REASON_CHARS } from '../../domain/operator-action.ts';
import { counted } from '../../domain/text.ts';
import { type Query, queryText, type Rejection } from '../api-client.ts';
import { ConfirmPage } from '../confirm.tsx';
import { ACTION_TEXTS } from '../deliveries/actions.ts';
import { DeliveryRows } from '../deliveries/rows.tsx';
import { FILTER_FIELDS, Filters } from '../filters.tsx';
import { Input } from '../form-fields.tsx';
import { Form, NoDefaultButton, Page } from '../layout.tsx';
import { Sentence, type WebhookNames } from '../names.tsx';
import { CursorPager, Empty, Live } from '../parts.tsx';
import { ALL, CONSOLE } from '../session.ts';
import { useViewer } from '../viewer.ts';
import { MAX_ROWS, titlesOf } from './scope.ts';

const PATH = `${ALL}/deliveries`;
const FORM = 'act-on-chosen';
/** The prefix of the id of a chosen delivery. */
export const CHOSEN = 'chosen-';

export interface ActionResult {
  readonly deliveryId: string;
  readonly accepted: boolean;
  readonly message: string;
}

function Results({
  results,
  titleOf,
}: {
  results: readonly ActionResult[];
  titleOf: (id: string) => string;
}) {
  if (results.length === 0) return null;
  const done = results.filter(({ accepted }) => accepted).length;
  return (
    <section class={`note ${done === results.length ? 'good' : 'warn'}`} role="status" aria-label="Results">
      <p>
        <strong>
          Done: {done === results.length ? '' : `${done} of `}
          {counted(results.length, 'delivery', 'deliveries')}.
        </strong>
      </p>
      <ul>
        {results.map(({ deliveryId, message }) => (
          <li>
            <a href={`${CONSOLE}/deliveries/${deliveryId}`}>{titleOf(deliveryId)}</a>:{' '}
            <Sentence text={message} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** @param offered the actions that at least one listed delivery would accept */
function ActionsCard({ asked, offered }: { asked: Query; offered: ReadonlySet<ActionName> }) {
  return (
    <Form action={`${PATH}/act`} class="card" id={FORM} aria-labelledby="act">
      <NoDefaultButton />
      <h2 id="act">Selected deliveries</h2>
      <input type="hidden" name="query" value={queryText(asked)} />
      <Input name="reason" label="Reason (the e-shops see it)" maxlength={MAX_REASON_CHARS} />
      <div class="actions">
        {actionNames
          .filter((action) => offered.has(action))
          .map((action) => (
            <button type="submit" name="action" value={action} class={action === 'giveUp' ? 'danger' : ''}>
              {ACTION_TEXTS[action][0]}
            </button>
          ))}
      </div>
    </Form>
  );
}

/** Asks for confirmation before several are given up. @param form the fields sent, which are sent again */
export function GiveUpAllPage({ form, ids }: { form: Query; ids: readonly string[] }) {
  return (
    <ConfirmPage
      here={PATH}
      title={`Give up on ${counted(ids.length, 'delivery', 'deliveries')}?`}
      button="Give up"
      action={`${PATH}/act`}
      back={`${PATH}${form.query ?? ''}`}
    >
      <p>No further attempts are made: each ends as canceled. Webhooks are not affected.</p>
      {Object.entries({ ...form, sure: 'true' }).map(([name, value]) =>
        name === 'csrf' ? null : <input type="hidden" name={name} value={value} />,
      )}
    </ConfirmPage>
  );
}

export function AllDeliveriesPage(props: {
  asked: Query;
  deliveries: readonly OperatorsDelivery[];
  accepted: ReadonlyMap<string, readonly ActionName[]>;
  names: WebhookNames;
  results?: readonly ActionResult[];
  refused?: Rejection | undefined;
}) {
  const { asked, deliveries, accepted, names, results = [], refused } = props;
  const titles = titlesOf(useViewer());
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const offered = new Set([...accepted.values()].flat());
  const titleOf = (id: string) => {
    const found = byId.get(id);
    return found === undefined ? id : `${found.eventType} ${found.entityId}`;
  };
  const choose = (id: string) => {
    const label = `Select ${titleOf(id)}`;
    return (accepted.get(id) ?? []).length === 0 ? null : (
      <input
        type="checkbox"
        name={`${CHOSEN}${id}`}
        value="true"
        form={FORM}
        aria-label={label}
        id={`c-${id}`}
      />
    );
  };
  return (
    <Page title="All deliveries" here={PATH} fields={FILTER_FIELDS} refused={refused}>
      <div class="top">
        <h1>All deliveries</h1>
        <nav class="tabs" aria-label="Quick filters">
          <a href={`${CONSOLE}${PATH}?state=retrying`}>Failing now</a>
          <a href={`${CONSOLE}${PATH}?state=held`}>Held</a>
          <a href={`${CONSOLE}${PATH}?state=pending`}>Waiting</a>
        </nav>
      </div>
      <Results results={results} titleOf={titleOf} />
      <Filters
        path={PATH}
        asked={asked}
        shown={['among', 'state', 'entityId']}
        more={['webhookId', 'receiver', 'webhookType', 'lastStatus', 'since', 'until']}
      />
      {offered.size === 0 ? null : <ActionsCard asked={asked} offered={offered} />}
      <Live id="deliveries" path={`${CONSOLE}${PATH}${queryText(asked)}`}>
        <section class="card flush" aria-label="Deliveries found">
          {deliveries.length === 0 ? (
            <Empty title="No deliveries">
              None matches these filters. An event that no webhook subscribes to has no delivery.
            </Empty>
          ) : (
            <DeliveryRows
              deliveries={deliveries.map(recordOf)}
              names={names}
              eshopOf={(id) => titles(byId.get(id)?.eshopId ?? 0)}
              choose={choose}
            />
          )}
          <CursorPager
            text={`${MAX_ROWS} at a time, the newest first`}
            older="Older"
            path={PATH}
            asked={asked}
            next={deliveries[MAX_ROWS - 1]?.id}
          />
        </section>
      </Live>
    </Page>
  );
}
