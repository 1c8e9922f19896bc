/** Billing may be left out; then it is the recipient. */
import type { OrderInput } from './schema.ts';

const pairs = {
  billingName: 'recipientName',
  billingCompanyName: 'recipientCompanyName',
  billingEmail: 'recipientEmail',
  billingPhone: 'recipientPhone',
  billingStreet: 'recipientStreet',
  billingCity: 'recipientCity',
  billingPostCode: 'recipientPostCode',
  billingCountry: 'recipientCountry',
} as const;

type Billing = keyof typeof pairs;
type Party = Pick<OrderInput, Billing | (typeof pairs)[Billing]>;

export const billingFields = Object.keys(pairs);
export const recipientFields: readonly string[] = Object.values(pairs);

export function billsRecipient(order: Party): boolean {
  const values = new Map<string, unknown>(Object.entries(order));
  return Object.entries(pairs).every(([billing, field]) => values.get(billing) === values.get(field));
}

/** The order, billed to the recipient if every billing field is left out. */
export function withBilling<Order extends Party>(order: Order): Order {
  const values = new Map<string, unknown>(Object.entries(order));
  if (billingFields.some((field) => values.get(field) !== null)) return order;
  const billing = Object.entries(pairs).map(([field, recipient]) => [field, values.get(recipient)]);
  return { ...order, ...Object.fromEntries(billing) };
}
