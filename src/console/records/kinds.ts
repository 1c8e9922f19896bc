/** The five kinds of record, and the columns of their lists. */
import { type CatalogueEntry, catalogue } from '../../domain/catalogue.ts';
import { orderStatuses } from '../../domain/order/status.ts';
import { receivingStatuses } from '../../domain/receiving/status.ts';
import { returnStatuses } from '../../domain/return/status.ts';

export interface Kind {
  readonly entry: CatalogueEntry;
  /** Its most important fields, for lists. */
  readonly summaryFields: readonly string[];
  /** The field that filters its list, as in the API, and its values if there are few. */
  readonly by?: { readonly field: string; readonly label: string; readonly values?: readonly string[] };
}

const status = (values: readonly string[]) => ({ field: 'status', label: 'Status', values });

export const kinds: readonly Kind[] = [
  {
    entry: catalogue.order,
    summaryFields: ['recipientName', 'shipper', 'shipperService', 'orderType'],
    by: status(orderStatuses),
  },
  { entry: catalogue.product, summaryFields: ['name', 'ean'] },
  {
    entry: catalogue.receiving,
    summaryFields: ['supplier', 'deliveryNoteNumber', 'unitsAmount'],
    by: status(receivingStatuses),
  },
  {
    entry: catalogue.return,
    summaryFields: ['eshopOrderId', 'shipper', 'trackingNumber'],
    by: status(returnStatuses),
  },
  {
    entry: catalogue.stockMovement,
    summaryFields: ['type', 'sku', 'count', 'reference'],
    by: { field: 'sku', label: 'SKU' },
  },
];
