/** Billing may be left out; then the recipient is billed. */
import type { OrderInput } from './schema.ts';

type BillingField = Extract<keyof OrderInput, `billing${string}`>;
type RecipientOf<Field> = Field extends `billing${infer Name}` ? `recipient${Name}` : never;

const pairs = {
  billingName: 'recipientName',
  billingCompanyName: 'recipientCompanyName',
  billingEmail: 'recipientEmail',
  billingPhone: 'recipientPhone',
  billingStreet: 'recipientStreet',
  billingCity: 'recipientCity',
  billingPostCode: 'recipientPostCode',
  billingCountry: 'recipientCountry',
} as const satisfies { readonly [Field in BillingField]: RecipientOf<Field> };

type Party = Pick<OrderInput, BillingField | RecipientOf<BillingField>>;

export const billingFields = Object.keys(pairs);
export const recipientFields: readonly string[] = Object.values(pairs);

export function isBilledToRecipient(order: Party): boolean {
  return Object.entries(pairs).every(
    ([billing, recipient]) => Reflect.get(order, billing) === Reflect.get(order, recipient),
  );
}

/** The order, billed to the recipient if every billing field is left out. */
export function withBilling<Order extends Party>(order: Order): Order {
  if (billingFields.some((field) => Reflect.get(order, field) !== null)) return order;
  const billing = Object.entries(pairs).map(([field, recipient]) => [field, Reflect.get(order, recipient)]);
  return { ...order, ...Object.fromEntries(billing) };
}
