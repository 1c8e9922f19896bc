/** A record of any kind: its fields as names and values, its lists as tables. */
import type { Child } from 'hono/jsx';
import { capital } from '../../domain/text.ts';
import { Facts, Table } from '../parts.tsx';
import { Time } from '../times.tsx';

export type Item = Readonly<Record<string, unknown>>;

/** "requiredExpeditionDate" → "Required expedition date" */
function labelOf(field: string): string {
  const spaced = field.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return capital(spaced.replaceAll(/\b(sku|url|vat|ean|upc|hs|id)\b/g, (short) => short.toUpperCase()));
}

/** A value as text; null if there is none, or more than one. */
export function plain(value: unknown): string | null {
  if (value === null || value === undefined || value === '' || typeof value === 'object') return null;
  if (value === true) return 'yes';
  return value === false ? 'no' : String(value);
}

function displayed(value: unknown): Child | null {
  const text = plain(value);
  if (text !== null) return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? <Time at={text} /> : text;
  const listed = Array.isArray(value) ? value.map(plain).filter((each) => each !== null) : [];
  return listed.length === 0 ? null : listed.join(', ');
}

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ItemTable({ title, items }: { title: string; items: readonly Item[] }) {
  const fields = [...new Set(items.flatMap((item) => Object.keys(item)))].filter((field) =>
    items.some((item) => displayed(item[field]) !== null),
  );
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <Table label={`${title}, as a table`} columns={fields.map(labelOf)}>
        {items.map((item) => (
          <tr>
            {fields.map((field) => (
              <td>{displayed(item[field]) ?? '–'}</td>
            ))}
          </tr>
        ))}
      </Table>
    </section>
  );
}

export function Lists({ item }: { item: Item }) {
  return (
    <>
      {Object.entries(item).map(([field, value]) => {
        const items = Array.isArray(value) ? value.filter(isItem) : [];
        return items.length === 0 ? null : <ItemTable title={labelOf(field)} items={items} />;
      })}
    </>
  );
}

export function Fields({ item }: { item: Item }) {
  const facts = Object.entries(item).flatMap(([field, value]) =>
    isItem(value)
      ? Object.entries(value).map(
          ([inner, each]) => [`${labelOf(field)}: ${labelOf(inner).toLowerCase()}`, displayed(each)] as const,
        )
      : [[labelOf(field), displayed(value)] as const],
  );
  return (
    <div class="wide">
      <Facts facts={facts} />
    </div>
  );
}
