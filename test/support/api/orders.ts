/** Bodies of orders, and the products that they need. */
import type { TestEshop } from './api.ts';

/** Creates the products of the orders below, with enough units for every test. */
export async function stockedProducts(eshop: TestEshop): Promise<void> {
  for (const sku of ['TEA', 'CUP']) await stockedProduct(eshop, sku, '10000');
}

let made = 0;

/** Creates a product with units available, under an SKU that no other has. */
export async function newProduct(eshop: TestEshop, available: string): Promise<string> {
  made += 1;
  return await stockedProduct(eshop, `P-${made}`, available);
}

/** Creates a product with units available. */
export async function stockedProduct(eshop: TestEshop, sku: string, available: string): Promise<string> {
  const made = await eshop.shop.request('POST', '/v21/products', { sku, name: sku });
  if (made.status !== 200) throw new Error(`${sku}: ${made.text}`);
  if (available !== '0') await addStock(eshop, sku, available);
  return sku;
}

/** Adds units of a product to the stock. */
export async function addStock(eshop: TestEshop, sku: string, count: string): Promise<void> {
  const movement = { type: 'stock_correction', sku, count };
  const moved = await eshop.warehouse.request('POST', '/v21/warehouse/stock-movements', movement);
  if (moved.status !== 200) throw new Error(`${sku}: ${moved.text}`);
}

/** The smallest valid order: one product. */
export function minimalOrder(eshopOrderId: string, more: object = {}) {
  return { eshopOrderId, orderProducts: [{ sku: 'TEA', quantity: 1 }], ...more };
}

/** An order with every field set, except those that another rule forbids. */
export function fullOrder(eshopOrderId: string, more: object = {}) {
  return {
    eshopOrderId,
    status: 'preReceived',
    orderType: 'b2b',
    requiredExpeditionDate: '2030-01-02T03:04:05.678+02:00',
    recipientName: 'Zoë Nováková',
    recipientCompanyName: 'Čajovna s.r.o.',
    recipientEmail: 'zoe@customer.example',
    recipientPhone: '+420600000000',
    recipientStreet: 'Dlouhá 12',
    recipientCity: 'Praha',
    recipientPostCode: '110 00',
    recipientCountry: 'CZ',
    billingName: 'Accounting',
    billingCity: 'Brno',
    shipper: 'PACKETA',
    shipperService: 'PACKETA_PICKUP_CZ',
    pickupPoint: '79',
    paid: false,
    paymentType: 0,
    cashOnDelivery: '1249.9',
    currency: 'CZK',
    note: 'ring twice',
    branch: 'east',
    invoiceNumber: '2026-77',
    invoicePrint: true,
    pickFromQuality: true,
    trackingNumbers: ['Z 1', 'Z 2'],
    sanction: true,
    priority: 1,
    disableShippingReorder: true,
    marketplace: 'allegro',
    orderFiles: [
      { type: 'invoice', fileName: 'i.pdf', url: 'https://shop.example/i.pdf' },
      { type: 'shippingAddonLabel', fileName: 'l.pdf', url: 'https://shop.example/l.pdf' },
    ],
    orderProducts: [
      { sku: 'TEA', quantity: 2.5, unitPrice: '349.9000', vatRate: '12.0', lot: 'L1' },
      { sku: 'CUP', quantity: '3.000', unitPrice: 0.1234, vatRate: 21 },
    ],
    ...more,
  };
}
