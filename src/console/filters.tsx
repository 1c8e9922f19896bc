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

/**
 * The filters of a list, in one row.
 * @param path of the list, below `/console`
 * @param more filters that are seldom needed, shown on demand
 * @param folded their names: one that is set is shown at once
 */
export function Filters(props: {
  path: string;
  asked: Query;
  more?: Child;
  folded?: readonly string[];
  children: Child;
}) {
  const { path, asked, more = null, folded = [], children } = props;
  // Neither is a filter: a page of the list, and a delivery that it continues after.
  const { page: _page, before: _before, ...set } = given(asked);
  return (
    <form method="get" action={`${CONSOLE}${path}`} class="filters">
      {children}
      <button type="submit">Filter</button>
      {Object.keys(set).length === 0 ? null : (
        <a class="button" href={`${CONSOLE}${path}`}>
          Clear
        </a>
      )}
      {more === null ? null : (
        <details id="more-filters" open={folded.some((name) => set[name] !== undefined)}>
          <summary>More filters</summary>
          <div class="filters">{more}</div>
        </details>
      )}
    </form>
  );
}

export function ChoiceFilter(props: Parameters<typeof Select>[0]) {
  const { options, ...more } = props;
  return <Select {...more} options={[['', 'Any'], ...options]} />;
}

/** A filter by e-shop, if there are several. Its name is not the one that chooses the e-shop of other pages. */
export function EshopFilter({ value }: { value: string | undefined }) {
  const { eshops } = useViewer();
  if (eshops.length > MAX_ESHOPS_LISTED) return <Input name="among" label="E-shop number" value={value} />;
  const options = eshops.map((eshop) => [String(eshop.id), eshopTitle(eshop)] as const);
  return <Select name="among" label="E-shop" value={value} options={[['', 'All'], ...options]} />;
}

export function EventTypeFilter({ value }: { value: string | undefined }) {
  const options = eventTypeNames.map((type) => [type, type] as const);
  return <ChoiceFilter name="webhookType" label="Event type" value={value} options={options} />;
}

export function StateFilter({ value }: { value: string | undefined }) {
  const options = deliveryStates.map((state) => [state, state] as const);
  return <ChoiceFilter name="state" label="State" value={value} options={options} />;
}

export function StatusFilter({ asked: { lastStatus, attempts } }: { asked: Query }) {
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

export function EntityFilter({ value }: { value: string | undefined }) {
  return <Input name="entityId" label="Order or other identifier" value={value} />;
}

export function ReceiverFilter({ value }: { value: string | undefined }) {
  return <Input name="receiver" label="Receiver" value={value} placeholder="shop.example" />;
}

export function TimeFilters({ asked: { since, until } }: { asked: Query }) {
  return (
    <>
      <Input name="since" label="Since (UTC)" type="datetime-local" value={since} />
      <Input name="until" label="Until (UTC)" type="datetime-local" value={until} />
    </>
  );
}
