/** A workflow's id in the log, without the identifiers of an e-shop's records. */
import { deliveryIdOf } from '../../workflows/delivery-id.ts';

/** `release/<e-shop>/<order>` */
const RELEASE = /^(release\/[^/]*)\/.*$/s;

/**
 * The id as logged; that of a delivery is `delivery/<delivery id>`, by which `waybill deliveries show` and `waybill
 * replay` find it.
 */
export function loggedWorkflowId(workflowId: unknown): unknown {
  if (typeof workflowId !== 'string') return workflowId;
  const deliveryId = deliveryIdOf(workflowId);
  return deliveryId === null ? workflowId.replace(RELEASE, '$1/…') : `delivery/${deliveryId}`;
}
