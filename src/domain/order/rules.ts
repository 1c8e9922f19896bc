/** The rules over several fields of an order, each with its own message (docs/interface.md, O4, O6–O9). */
import { compareDecimals } from '../decimal.ts';
import type { WriteContext } from '../editing.ts';
import type { ShipperCatalogue } from '../shipper-services.ts';
import { problemIf, type Rule, rulesOf } from '../validation.ts';
import { CASH_ON_DELIVERY, type OrderInput } from './schema.ts';
import type { OrderStatus } from './status.ts';

/** An order as the rules see it: on an update with its present status. */
export interface RuledOrder extends Omit<OrderInput, 'status'> {
  readonly status: OrderStatus;
}

const rule = rulesOf<RuledOrder, WriteContext>();

function serviceOf(order: Pick<OrderInput, 'shipper' | 'shipperService'>, catalogue: ShipperCatalogue) {
  return catalogue
    .find(({ shipper }) => shipper === order.shipper)
    ?.services.find(({ value }) => value === order.shipperService);
}

/** In the order in which problems are reported. */
export const orderRules: readonly Rule<WriteContext>[] = [
  rule(['status', 'releaseAt'], ({ status, releaseAt }, { now }, before) => {
    if (releaseAt === null) return null;
    if (status !== 'preOrder') return 'allowed only for a preOrder';
    if (Date.parse(releaseAt) > now.getTime()) return null;
    return before === null
      ? 'must be in the future'
      : 'must be in the future (to release it now, use POST …/release)';
  }),
  rule(['orderType', 'requiredExpeditionDate'], ({ orderType, requiredExpeditionDate }) =>
    requiredExpeditionDate !== null && orderType !== 'b2b' ? 'allowed only for b2b orders' : null,
  ),
  rule(['orderType', 'transferCompany'], ({ orderType, transferCompany }) =>
    orderType === 'transfer' && (transferCompany ?? '') === '' ? 'is required for transfer orders' : null,
  ),
  rule(['orderType', 'sanction'], ({ orderType, sanction }) =>
    sanction && orderType !== 'b2b' ? 'allowed only for b2b orders' : null,
  ),
  rule(['shipper', 'shipperService'], (order, { shipperCatalogue }) => {
    const { shipper, shipperService } = order;
    const carrier = shipperCatalogue.find((entry) => entry.shipper === shipper);
    return [
      ...problemIf(shipper === null && shipperService !== null, 'shipper', 'is required with shipperService'),
      ...problemIf(shipper !== null && shipperService === null, 'shipperService', 'is required with shipper'),
      ...problemIf(
        shipper !== null && carrier === undefined,
        'shipper',
        `"${shipper}" is not a shipper listed by GET /v2/shipper-service-codes`,
      ),
      ...problemIf(
        carrier !== undefined && shipperService !== null && serviceOf(order, shipperCatalogue) === undefined,
        'shipperService',
        `"${shipperService}" is not a service of ${shipper}, see GET /v2/shipper-service-codes`,
      ),
    ];
  }),
  rule(['shipper', 'shipperService', 'pickupPoint'], (order, { shipperCatalogue }) => {
    const service = serviceOf(order, shipperCatalogue);
    // The rule above reports a service that does not exist.
    if (service === undefined && order.shipperService !== null) return null;
    if (service?.pickupPoint === true)
      return order.pickupPoint === null ? `is required by the service ${service.value}` : null;
    if (order.pickupPoint === null) return null;
    return service === undefined
      ? 'allowed only with a service that delivers to pickup points'
      : `is not applicable to the service ${service.value}`;
  }),
  rule(['shipper', 'shipperService', 'paymentType'], (order, { shipperCatalogue }) => {
    const service = serviceOf(order, shipperCatalogue);
    if (order.paymentType !== CASH_ON_DELIVERY || service?.cashOnDelivery === true) return null;
    if (service !== undefined) return `0 (cash on delivery) is not offered by the service ${service.value}`;
    const unknown = order.shipperService !== null;
    return unknown ? null : '0 (cash on delivery) requires a shipperService that offers it';
  }),
  rule(['paymentType', 'paid', 'cashOnDelivery'], ({ paymentType, paid, cashOnDelivery }) =>
    paymentType === CASH_ON_DELIVERY && !paid && compareDecimals(cashOnDelivery ?? '0', '0') <= 0
      ? 'must be greater than 0 for cash on delivery, unless the order is paid'
      : null,
  ),
  rule(['marketplace'], ({ marketplace }, { marketplaces }) =>
    marketplace !== null && !marketplaces.includes(marketplace)
      ? `must be one of ${marketplaces.join(', ')}`
      : null,
  ),
  rule(['disableShippingReorder', 'marketplace'], ({ disableShippingReorder, marketplace }) =>
    disableShippingReorder && marketplace === null ? 'is required when disableShippingReorder is true' : null,
  ),
  rule(['disableShippingReorder', 'orderFiles'], ({ disableShippingReorder, orderFiles }) =>
    disableShippingReorder && !orderFiles.some(({ type }) => type === 'shippingAddonLabel')
      ? 'must contain a file of type shippingAddonLabel when disableShippingReorder is true'
      : null,
  ),
  rule(['invoicePrint', 'orderFiles'], ({ invoicePrint, orderFiles }) =>
    invoicePrint && !orderFiles.some(({ type }) => type === 'invoice')
      ? 'must contain a file of type invoice when invoicePrint is true'
      : null,
  ),
  rule(['orderProducts'], ({ orderProducts }, { knownSkus }) =>
    orderProducts.flatMap(({ sku }, index) =>
      problemIf(!knownSkus.has(sku), `orderProducts.${index}.sku`, `"${sku}" is not a known product`),
    ),
  ),
];
