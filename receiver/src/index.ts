/**
 * Receives the webhooks of a Waybill warehouse.
 *
 * @example
 * const hooks = receiver({ secrets: process.env.WEBHOOK_SECRET, store: memoryStore() })
 *   .on('CREATE_ORDER', (order) => console.log(order.eshopOrderId))
 *   .otherwise((record, { kind }) => console.log(kind));
 */
export { Gone, RetryLater } from './answers.ts';
export { type ListedDelivery, type WaybillApi, waybill } from './api.ts';
export type { Delivery, Origin } from './delivery.ts';
export type { SignatureVersion } from './judgment.ts';
export { type Kind, kinds } from './kinds.ts';
export type { Handler, Handling, Receiver, ReceiverOptions, RequestContext } from './options.ts';
export { type MemoryOrderOptions, memoryOrder, type Order } from './order.ts';
export type * from './payloads.generated.ts';
export type { PublicKey, PublicKeyJwk, PublicKeys } from './public-keys.ts';
export { receiver } from './receiver.ts';
export { type Reconcilable, type Reconciled, type ReconcileOptions, reconcile } from './reconcile.ts';
export { Refused, type RefusedCode } from './refused.ts';
export type { SecretList, Secrets } from './secrets.ts';
export { ApiError, type ApiOptions } from './session.ts';
export { type Claim, type MemoryStoreOptions, memoryStore, type Store } from './store.ts';
