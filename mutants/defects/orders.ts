/** Orders and their stock. */
import type { Defect } from '../defect.ts';

const RESERVATIONS = 'test/api/stock-reservations.test.ts';
const SOLD_ONCE = 'units that are reserved are sold to nobody else';

export const orderDefects: readonly Defect[] = [
  {
    name: 'order-waiting-for-carrier-reserves-nothing',
    file: 'src/db/records/order-stock.ts',
    text: "  'packed',\n  'waitingForCarrier',\n",
    replacement: "  'packed',\n",
    noticed: 'Goods that are packed and wait for the carrier are sold a second time.',
    caughtBy: [
      {
        file: RESERVATIONS,
        tests: [
          `${SOLD_ONCE} while their order is waitingForCarrier`,
          `${SOLD_ONCE} and an order that waits for its carrier cannot be canceled any more, by nobody`,
        ],
      },
    ],
  },
  {
    name: 'order-packed-reserves-nothing',
    file: 'src/db/records/order-stock.ts',
    text: "  'packed',\n",
    replacement: '',
    noticed: 'Goods that are packed are sold a second time.',
    caughtBy: [{ file: RESERVATIONS, tests: [`${SOLD_ONCE} while their order is packed`] }],
  },
  {
    name: 'order-waiting-for-carrier-can-be-canceled',
    file: 'src/domain/order/status.ts',
    text: "  waitingForCarrier: ['onTheWay'],",
    replacement: "  waitingForCarrier: ['onTheWay', 'canceled'],",
    noticed: 'An order that waits for its carrier is canceled, and its goods leave all the same.',
    caughtBy: [
      {
        file: 'test/unit/order-status.test.ts',
        tests: ['the ways are those of the interface, and nothing else'],
      },
      {
        file: 'test/api/orders-status.test.ts',
        tests: ['statuses every pair of statuses is allowed or 409 exactly as the table says'],
      },
      {
        file: RESERVATIONS,
        tests: [
          `${SOLD_ONCE} and an order that waits for its carrier cannot be canceled any more, by nobody`,
        ],
      },
    ],
  },
];
