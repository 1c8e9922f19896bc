/** Returns: goods that a customer sends back. */
import { type Call, shop, warehouse } from '../steps.ts';
import type { Day } from './context.ts';
import type { OrderDraft } from './order-draft.ts';

const reasons = ['wrongSize', 'notAsDescribed', 'unwanted', 'defective'] as const;

/** One unit of the first line comes back and is stocked again. */
export function returned({ random }: Day, { id, orderType, lines: [line] }: OrderDraft): Call[] {
  if (line === undefined) return [];
  const eshopReturnId = `${id}-R`;
  const moved = (status: string, ...more: Parameters<typeof warehouse>[3][]) =>
    warehouse('PUT', `/returns/${eshopReturnId}/status`, { status }, 'UPDATE_RETURN_STATUS', ...more);
  const returnedOrderProducts = [{ sku: line.sku, quantity: 1, returnReason: random.pick(reasons) }];
  return [
    shop(
      'POST',
      '/returns',
      { eshopReturnId, eshopOrderId: id, orderType, returnedOrderProducts },
      'CREATE_RETURN',
    ),
    shop('PATCH', `/returns/${eshopReturnId}`, { eshopNote: 'the customer called' }, 'UPDATE_RETURN'),
    moved('arrived'),
    moved('processing'),
    warehouse(
      'PUT',
      `/returns/${eshopReturnId}/lines`,
      { returnedOrderProducts: [{ sku: line.sku, received: 1, resolution: 'returnToInventory' }] },
      'UPDATE_RETURN',
    ),
    moved('completed', 'CREATE_STOCK_MOVEMENT_RETURN'),
  ];
}
