/** Products: created in the morning, some with a new price in the evening. */
import { type Good, goods, kit } from '../goods.ts';
import { type Story, shop } from '../steps.ts';
import { type Day, idOf } from './context.ts';

/** Every product is new. */
export function listings(day: Day): Story[] {
  return [...goods, kit].map((good: Good) => [
    shop(
      'POST',
      '/products',
      {
        sku: idOf(day, good.code),
        name: good.name,
        price: good.price,
        currency: 'CZK',
        weight: good.weight,
        originCountry: good.originCountry,
        ...(good.food ? { trackLot: true, trackExpiration: true, expMethod: 'FEFO' } : { expMethod: 'FIFO' }),
      },
      'CREATE_PRODUCT',
    ),
  ]);
}

/** Some products become cheaper. */
export function priceCuts(day: Day): Story[] {
  return day.random
    .some(goods, 4)
    .map(({ code, price }) => [
      shop(
        'PATCH',
        `/products/${idOf(day, code)}`,
        { price: (price * 0.9).toFixed(2), note: 'evening offer' },
        'UPDATE_PRODUCT',
      ),
    ]);
}
