/** The settings and the state of a webhook as shown to people, in the same words everywhere. */
import type { DeactivationReason, WebhookSettings } from './webhook.ts';

/** A fact by its name; null if there is nothing to say. */
type Fact = readonly [name: string, text: string | null];

/** Its settings besides types and URL. @param headerNames of its static headers */
export function factsOf(webhook: WebhookSettings, headerNames: readonly string[] | null): Fact[] {
  const { method, payloadVersion, ordering, parameters, skipOwn, asymmetric, description } = webhook;
  return [
    ['Payload', method === 'GET' ? 'none: the identifier is in the URL' : payloadVersion],
    ['Ordering', ordering],
    ['Packing lists', parameters?.withPackingLists === true ? 'yes' : null],
    ['Personal data', parameters?.withoutPersonalData === true ? 'left out' : null],
    ['Changes to stock', parameters?.onStockChange === true ? 'yes' : null],
    ['Own changes', skipOwn ? 'left out' : null],
    ['Signatures', asymmetric ? 'also with the key of the e-shop (v1a)' : null],
    ['Static headers', headerNames?.join(', ') ?? null],
    ['Description', description],
  ];
}

/** States that need attention come first. */
export const webhookStates = ['failing', 'deactivated', 'paused', 'inactive', 'active'] as const;
export type WebhookState = (typeof webhookStates)[number];

/**
 * `deactivated` by failures, or `inactive` on request. A paused one makes no attempt: nobody has to act, whether it
 * was failing or not.
 * @param webhook `reason`: of its last deactivation
 */
export function stateOf(webhook: {
  readonly active: boolean;
  readonly isFailing: boolean;
  readonly isPaused: boolean;
  readonly reason: DeactivationReason | null;
}): WebhookState {
  const { active, isFailing, isPaused, reason } = webhook;
  if (!active) return reason === null || reason === 'user' ? 'inactive' : 'deactivated';
  if (isPaused) return 'paused';
  return isFailing ? 'failing' : 'active';
}

/** Why a webhook was deactivated, to continue a sentence. */
export const whyDeactivated: Readonly<Record<DeactivationReason, string>> = {
  user: 'on request',
  retriesExhausted: 'because all retries of a delivery failed',
  gone: 'because its receiver responded with 410 Gone',
};
