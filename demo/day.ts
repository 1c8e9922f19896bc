/** A day of a small warehouse. */
import { goods, kit } from './goods.ts';
import type { Phase } from './steps.ts';
import type { Day } from './stories/context.ts';
import { MAX_UNITS } from './stories/order-draft.ts';
import { orders } from './stories/orders.ts';
import { listings, priceCuts } from './stories/products.ts';
import { receivings } from './stories/receivings.ts';
import { corrections, kitting, qualityChecks } from './stories/stock.ts';

/** Units of each product for everything except orders. */
const SPARE_UNITS = 50;

/**
 * The whole day, from the first product to the last price. Its steps fire all kinds of event, even with few orders.
 * @param size the number of orders, from 1
 */
export function planDay(day: Day, size: number): Phase[] {
  return [
    { title: `${goods.length + 1} products are listed`, stories: listings(day) },
    { title: 'Goods arrive', stories: receivings(day, size * MAX_UNITS + SPARE_UNITS) },
    {
      title: `The shelves are checked, ${kit.name.toLowerCase()} is put together`,
      stories: [...corrections(day), ...qualityChecks(day), ...kitting(day)],
    },
    { title: `${size} orders come in and go out`, stories: orders(day, size) },
    { title: 'Prices for the evening', stories: priceCuts(day) },
  ];
}
