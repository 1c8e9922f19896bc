/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The filter by e-shop of lists of several e-shops. */
import type { Viewer } from '../deps.ts';
import { Input, Select } from '../parts.tsx';
import { eshopTitle, MOST_ESHOPS_LISTED } from '../switcher.tsx';

/** Named so that it does not choose the e-shop of other pages. */
export function eshopFilter({ eshops }: Viewer, value: string | undefined) {
  if (eshops.length > MOST_ESHOPS_LISTED) return <Input name="among" label="E-shop number" value={value} />;
  const options = eshops.map((eshop) => [String(eshop.id), eshopTitle(eshop)] as const);
  return <Select name="among" label="E-shop" value={value} options={[['', 'All'], ...options]} />;
}
