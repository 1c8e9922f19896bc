/** Orders, and the way each of them takes. */
import type { OrderStatus } from '../../src/domain/order/status.ts';
import { type Call, type Story, shop, warehouse } from '../steps.ts';
import { type Day, idOf, inDays } from './context.ts';
import { draftOrder, type OrderDraft } from './order-draft.ts';
import { packed } from './packing.ts';
import { returned } from './returns.ts';

/** How long after its creation a pre-order with a release time is released, in milliseconds. */
const RELEASED_AFTER_MS = 2_000;

const path = ({ id }: OrderDraft) => `/orders/${id}`;

function created(order: OrderDraft, more: Call['body'] = {}): Call {
  const body = (now: Date) => ({ ...order.body, ...(typeof more === 'function' ? more(now) : more) });
  return shop('POST', '/orders', body, 'CREATE_ORDER');
}

function moved(order: OrderDraft, ...statuses: readonly OrderStatus[]): Call[] {
  return statuses.map((status) =>
    warehouse('PUT', `${path(order)}/status`, { status }, 'UPDATE_ORDER_STATUS'),
  );
}

/** Leaves the warehouse: every line takes its units out of stock. */
function handedOver(order: OrderDraft): Call {
  const taken = order.lines.map(() => 'CREATE_STOCK_MOVEMENT_ORDER' as const);
  const body = { status: 'onTheWay' };
  return warehouse('PUT', `${path(order)}/status`, body, 'UPDATE_ORDER_STATUS', ...taken);
}

/** From the shelf to the carrier. */
function picked(day: Day, order: OrderDraft): Call[] {
  return [
    ...moved(order, 'processing'),
    packed(day, order),
    ...moved(order, 'packed', 'waitingForCarrier'),
    handedOver(order),
  ];
}

/** From the e-shop to the customer's door. */
function delivered(day: Day, order: OrderDraft): Call[] {
  return [...moved(order, 'received'), ...picked(day, order), ...moved(order, 'delivered')];
}

/** The ways of an order, by name. */
const ways = {
  returned: (day, order) => [created(order), ...delivered(day, order), ...returned(day, order)],
  preOrder: (day, order) => [
    created(order, (now) => ({
      status: 'preOrder',
      releaseAt: new Date(now.getTime() + RELEASED_AFTER_MS).toISOString(),
    })),
    { path: path(order), untilStatus: 'preReceived', fires: ['UPDATE_ORDER_STATUS'] },
    ...delivered(day, order),
  ],
  plain: (day, order) => [created(order), ...delivered(day, order)],
  changed: (day, order) => [
    created(order),
    shop('PATCH', path(order), { note: 'a gift: no prices, please', priority: 1 }, 'UPDATE_ORDER'),
    ...delivered(day, order),
  ],
  b2b: (day, order) => [
    created(order, (now) => ({ requiredExpeditionDate: inDays(now, 14) })),
    ...delivered(day, order),
  ],
  canceled: (_day, order) => [
    created(order),
    ...moved(order, 'received'),
    shop('POST', `${path(order)}/cancel`, {}, 'UPDATE_ORDER_STATUS'),
  ],
  unpaid: (day, order) => [
    created(order, { paid: false, paymentType: 2 }),
    ...moved(order, 'waitingForPayment'),
    shop('PATCH', path(order), { paid: true }, 'UPDATE_ORDER'),
    ...delivered(day, order),
  ],
  released: (day, order) => [
    created(order, { status: 'preOrder' }),
    shop('POST', `${path(order)}/release`, {}, 'UPDATE_ORDER_STATUS'),
    ...delivered(day, order),
  ],
  suspended: (day, order) => [
    created(order),
    ...moved(order, 'received', 'suspended'),
    shop('PATCH', path(order), { recipientStreet: 'Krátká 2' }, 'UPDATE_ORDER'),
    ...delivered(day, order),
  ],
  notFetched: (day, order) => [
    created(order),
    ...moved(order, 'received'),
    ...picked(day, order),
    ...moved(order, 'returningBack', 'returnedBack', 'receivedBack'),
  ],
} as const satisfies Record<string, (day: Day, order: OrderDraft) => Story>;

/** The name of a way. */
export type OrderStory = keyof typeof ways;

/** Ways in turn, so that even a small day has some of each; the first one alone fires every event of an order. */
const turn: readonly OrderStory[] = [
  'returned',
  'preOrder',
  'plain',
  'changed',
  'canceled',
  'b2b',
  'unpaid',
  'released',
  'plain',
  'suspended',
  'returned',
  'notFetched',
];

/** The given number of orders, each with its way. */
export function orders(day: Day, count: number): Story[] {
  return Array.from({ length: count }, (_, index) => {
    const way = turn[index % turn.length] ?? 'plain';
    return ways[way](day, draftOrder(day, idOf(day, 'O', index + 1), way === 'b2b' ? 'b2b' : 'b2c'));
  });
}
