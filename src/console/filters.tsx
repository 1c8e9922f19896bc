/** The filters of lists. */
import type { Child } from 'hono/jsx';
import { deliveryStates } from '../domain/delivery-state.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import { statusClasses } from '../domain/status-filter.ts';
import { nonEmpty, type Query } from './api-client.ts';
import { Input, Select, ValuesOfForm } from './form-fields.tsx';
import type { FieldPaths } from './problems.ts';
import { CONSOLE } from './session.ts';
import { eshopTitle, MAX_ESHOPS_LISTED } from './switcher.tsx';
import { useViewer } from './viewer.ts';

export function ChoiceFilter(props: Parameters<typeof Select>[0]) {
  const { options, ...more } = props;
  return <Select {...more} options={[['', 'Any'], ...options]} />;
}

/** Its name differs from the one that chooses the e-shop of other pages. */
function EshopFilter() {
  const { eshops } = useViewer();
  if (eshops.length > MAX_ESHOPS_LISTED) return <Input name="among" label="E-shop number" />;
  const options = eshops.map((eshop) => [String(eshop.id), eshopTitle(eshop)] as const);
  return <Select name="among" label="E-shop" options={[['', 'All'], ...options]} />;
}

const STATES = deliveryStates.map((state) => [state, state] as const);
const TYPES = eventTypeNames.map((type) => [type, type] as const);

const FILTERS = {
  among: <EshopFilter />,
  entityId: <Input name="entityId" label="Order or other identifier" />,
  lastStatus: (
    <>
      <Input name="lastStatus" label="HTTP status" placeholder="403, 5xx, none" list="statuses" />
      <datalist id="statuses">
        {statusClasses.map((each) => (
          <option value={each} />
        ))}
      </datalist>
      <Select
        name="attempts"
        label="HTTP status of"
        options={Object.entries({ '': 'the last attempt', any: 'any attempt' })}
      />
    </>
  ),
  receiver: <Input name="receiver" label="Receiver" placeholder="shop.example" />,
  since: <Input name="since" label="Since (UTC)" type="datetime-local" />,
  state: <ChoiceFilter name="state" label="State" options={STATES} />,
  trouble: <ChoiceFilter name="trouble" label="Health" options={[['true', 'needs attention']]} />,
  until: <Input name="until" label="Until (UTC)" type="datetime-local" />,
  webhookId: <Input name="webhookId" label="Webhook number" />,
  webhookType: <ChoiceFilter name="webhookType" label="Event type" options={TYPES} />,
};
type FilterName = keyof typeof FILTERS;

/** Each field shows its own problem: the names are those of the API. */
export const FILTER_FIELDS: FieldPaths = Object.keys(FILTERS);

/**
 * The filters of a list, in one row.
 * @param path of the list, below `/console`
 * @param more filters that are seldom needed, shown on demand, or at once if any is set
 * @param children further filters, for this list only
 */
export function Filters(props: {
  path: string;
  asked: Query;
  shown?: readonly FilterName[];
  more?: readonly FilterName[];
  children?: Child;
}) {
  const { path, asked, shown = [], more = [], children } = props;
  // These are not filters: the page of the list, and the delivery after which it continues.
  const { page: _page, before: _before, ...set } = nonEmpty(asked);
  return (
    <form method="get" action={`${CONSOLE}${path}`} class="filters">
      <ValuesOfForm.Provider value={asked}>
        {shown.map((name) => FILTERS[name])}
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
            <div class="filters">{more.map((name) => FILTERS[name])}</div>
          </details>
        )}
      </ValuesOfForm.Provider>
    </form>
  );
}
