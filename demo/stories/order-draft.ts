/** The contents of an order, its customer and its shipping. */
import { companies, goods, people } from '../goods.ts';
import { type Day, idOf } from './context.ts';

/** A line of an order. */
export interface DraftLine {
  readonly sku: string;
  readonly quantity: number;
  readonly unitPrice: number;
  readonly vatRate: number;
}

/** An order that is about to be created. */
export interface OrderDraft {
  readonly id: string;
  readonly lines: readonly DraftLine[];
  readonly orderType: 'b2c' | 'b2b';
  /** The fields of the body. */
  readonly body: object;
}

/** The most units of a product in one order. */
export const MAX_UNITS = 10;

/** A service that delivers to the country, and its required fields; nothing if no carrier of the instance does. */
function shipping({ random, shippers }: Day, country: string): object {
  const services = shippers.flatMap(({ shipper, services }) =>
    services.filter(({ countries }) => countries.includes(country)).map((service) => ({ shipper, service })),
  );
  if (services.length === 0) return {};
  const { shipper, service } = random.pick(services);
  return {
    shipper,
    shipperService: service.value,
    ...(service.pickupPoint ? { pickupPoint: String(random.integer(100, 9_999)) } : {}),
  };
}

/** Chooses all data of an order. */
export function draftOrder(day: Day, id: string, orderType: OrderDraft['orderType']): OrderDraft {
  const { random } = day;
  const isB2b = orderType === 'b2b';
  const lines = random.some(goods, random.integer(1, 3)).map(({ code, price }) => ({
    sku: idOf(day, code),
    quantity: isB2b ? random.integer(6, MAX_UNITS) : random.integer(1, 2),
    unitPrice: price,
    vatRate: 21,
  }));
  const person = random.pick(people);
  return {
    id,
    lines,
    orderType,
    body: {
      eshopOrderId: id,
      orderType,
      ...(isB2b ? { recipientCompanyName: random.pick(companies) } : {}),
      recipientName: person.name,
      recipientStreet: person.street,
      recipientCity: person.city,
      recipientPostCode: person.postCode,
      recipientCountry: person.country,
      ...shipping(day, person.country),
      paid: true,
      paymentType: 1,
      currency: 'CZK',
      orderProducts: lines,
    },
  };
}
