/** Switches from one e-shop to another. */
import type { EshopName } from '../db/console/sessions.ts';
import { CONSOLE } from './session.ts';

/** With more e-shops it is quicker to type a number than to find a name. */
export const MAX_ESHOPS_LISTED = 200;

export function eshopTitle({ id, name }: EshopName): string {
  return `${id} · ${name}`;
}

/** Changes nothing, and so needs no token. */
export function Switcher({ eshops, eshopId }: { eshops: readonly EshopName[]; eshopId: number }) {
  const several = eshops.length <= MAX_ESHOPS_LISTED;
  return (
    <form method="get" action={CONSOLE} class="switch">
      <label for="eshop-shown">Current e-shop</label>
      {several ? (
        <select id="eshop-shown" name="eshop">
          {eshops.map((eshop) => (
            <option value={String(eshop.id)} selected={eshop.id === eshopId}>
              {eshopTitle(eshop)}
            </option>
          ))}
        </select>
      ) : (
        <input id="eshop-shown" name="eshop" inputmode="numeric" required value={String(eshopId)} />
      )}
      <button type="submit">Show</button>
    </form>
  );
}
