/** The filters of lists. */
import type { Child } from 'hono/jsx';
import { deliveryStates } from '../domain/delivery-state.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import { statusClasses } from '../domain/status-filter.ts';
import { given, type Query } from './api-client.ts';
import { Input, Select } from './form-fields.tsx';
import type { FieldPaths } from './problems.ts';
import { CONSOLE } from './session.ts';
import { eshopTitle, MAX_ESHOPS_LISTED } from './switcher.tsx';
import { useViewer } from './viewer.ts';

/** Of the filters that the API may refuse: they are named as there. */
export const FILTER_FIELDS: FieldPaths = ['entityId', 'since', 'until', 'lastStatus'];

export function ChoiceFilter(props: Parameters<typeof Select>[0]) {
  const { options, ...more } = props;
  return <Select {...more} options={[['', 'Any'], ...options]} />;
}

/** By e-shop, if there are several. Its name is not the one that chooses the e-shop of other pages. */
function EshopFilter({ among }: Query) {
  const { eshops } = useViewer();
  if (eshops.length > MAX_ESHOPS_LISTED) return <Input name="among" label="E-shop number" value={among} />;
  const options = eshops.map((eshop) => [String(eshop.id), eshopTitle(eshop)] as const);
  return <Select name="among" label="E-shop" value={among} options={[['', 'All'], ...options]} />;
}

function EventTypeFilter({ webhookType }: Query) {
  const options = eventTypeNames.map((type) => [type, type] as const);
  return <ChoiceFilter name="webhookType" label="Event type" value={webhookType} options={options} />;
}

function StateFilter({ state }: Query) {
  const options = deliveryStates.map((each) => [each, each] as const);
  return <ChoiceFilter name="state" label="State" value={state} options={options} />;
}

function StatusFilter({ lastStatus, attempts }: Query) {
  return (
    <>
      <Input
        name="lastStatus"
        label="HTTP status"
        value={lastStatus}
        placeholder="403, 5xx, none"
        list="statuses"
      />
      <datalist id="statuses">
        {statusClasses.map((each) => (
          <option value={each} />
        ))}
      </datalist>
      <Select
        name="attempts"
        label="HTTP status of"
        value={attempts}
        options={[
          ['', 'the last attempt'],
          ['any', 'any attempt'],
        ]}
      />
    </>
  );
}

/** By the names of their fields. */
const FILTERS = {
  among: EshopFilter,
  entityId: ({ entityId }: Query) => (
    <Input name="entityId" label="Order or other identifier" value={entityId} />
  ),
  lastStatus: StatusFilter,
  receiver: ({ receiver }: Query) => (
    <Input name="receiver" label="Receiver" value={receiver} placeholder="shop.example" />
  ),
  since: ({ since }: Query) => <Input name="since" label="Since (UTC)" type="datetime-local" value={since} />,
  state: StateFilter,
  trouble: ({ trouble }: Query) => (
    <ChoiceFilter name="trouble" label="Health" value={trouble} options={[['true', 'needs attention']]} />
  ),
  until: ({ until }: Query) => <Input name="until" label="Until (UTC)" type="datetime-local" value={until} />,
  webhookId: ({ webhookId }: Query) => <Input name="webhookId" label="Webhook number" value={webhookId} />,
  webhookType: EventTypeFilter,
};
type FilterName = keyof typeof FILTERS;

/**
 * The filters of a list, in one row.
 * @param path of the list, below `/console`
 * @param more filters that are seldom needed, shown on demand: one that is set is shown at once
 * @param children further ones, of this list alone
 */
export function Filters(props: {
  path: string;
  asked: Query;
  shown?: readonly FilterName[];
  more?: readonly FilterName[];
  children?: Child;
}) {
  const { path, asked, shown = [], more = [], children } = props;
  const filter = (name: FilterName) => FILTERS[name](asked);
  // Neither is a filter: a page of the list, and a delivery that it continues after.
  const { page: _page, before: _before, ...set } = given(asked);
  return (
    <form method="get" action={`${CONSOLE}${path}`} class="filters">
      {shown.map(filter)}
      {children}
      <button type="submit">Filter</button>
      {Object.keys(set).length === 0 ? null : (
        <a class="button" href={`${CONSOLE}${path}`}>
          Clear
        </a>
      )}
      {more.length === 0 ? null : (
        <details id="more-filters" open={more.some((name) => set[name] !== undefined)}>
          <summary>More filters</summary>
          <div class="filters">{more.map(filter)}</div>
        </details>
      )}
    </form>
  );
}
