/** Receivings: goods are announced, arrive, are counted and put on the shelf. */
import { type Good, goods, suppliers } from '../goods.ts';
import { type Story, shop, warehouse } from '../steps.ts';
import { type Day, idOf, inDays } from './context.ts';

/** The number of products on one lorry. */
const PER_LORRY = 3;
const SHELF_LIFE_DAYS = 540;

/** The goods of one lorry, from the announcement to the shelf. */
function received(day: Day, number: number, load: readonly Good[], units: number): Story {
  const id = idOf(day, 'IN', number);
  const moved = (status: string, ...more: Parameters<typeof warehouse>[3][]) =>
    warehouse('PUT', `/receivings/${id}/status`, { status }, 'UPDATE_RECEIVING_STATUS', ...more);
  const supplier = day.random.pick(suppliers);
  const announced = load.map(({ code }) => ({ sku: idOf(day, code), quantity: units }));
  return [
    shop(
      'POST',
      '/receivings',
      (now) => ({
        eshopReceivingId: id,
        supplier,
        deliveryType: 'truckingCompany',
        handlingUnits: 'pallet',
        estimatedDelivery: inDays(now, 1),
        products: announced,
      }),
      'CREATE_RECEIVING',
    ),
    shop('PATCH', `/receivings/${id}`, { driverName: 'Karel Řidič', urgent: true }, 'UPDATE_RECEIVING'),
    moved('arrived'),
    warehouse(
      'PUT',
      `/receivings/${id}/lines`,
      (now) => ({
        products: load.map(({ code, food }) => ({
          sku: idOf(day, code),
          received: units,
          ...(food ? { lot: `L${number}`, expirationDate: inDays(now, SHELF_LIFE_DAYS) } : {}),
        })),
      }),
      'UPDATE_RECEIVING',
    ),
    moved('received'),
    moved('stocked', ...load.map(() => 'CREATE_STOCK_MOVEMENT_RECEIVING' as const)),
  ];
}

/** Every product arrives. @param units of each */
export function receivings(day: Day, units: number): Story[] {
  const lorries = Array.from({ length: Math.ceil(goods.length / PER_LORRY) }, (_, index) =>
    goods.slice(index * PER_LORRY, (index + 1) * PER_LORRY),
  );
  return lorries.map((load, index) => received(day, index + 1, load, units));
}
