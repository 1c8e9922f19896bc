/** The restrictions on a webhook's other fields by its types (docs/interface.md, W22). */
import { type EventType, eventTypes, movementOf, packingListEventTypes } from './event-types.ts';
import { hasPersonalData } from './personal-data.ts';
import type { FieldProblem } from './problem.ts';
import { problemIf, type Rule, rulesOf } from './validation.ts';
import type { GivenSettings, WebhookSettings } from './webhook.ts';
import { type GivenTypes, typesIn } from './webhook-types.ts';

const rule = rulesOf<GivenSettings, unknown>();

/** @param stored see {@link typesIn} */
export function typeRules(stored: readonly EventType[]): readonly Rule<unknown>[] {
  const hasType = (webhook: GivenTypes, fits: (type: EventType) => boolean) =>
    typesIn(webhook, stored).some(fits);
  return [
    rule(['webhookType', 'additionalTypes', 'parameters'], (webhook) =>
      problemIf(
        webhook.parameters?.withPackingLists === true &&
          !hasType(webhook, (type) => packingListEventTypes.includes(type)),
        'parameters.withPackingLists',
        `allowed only for ${packingListEventTypes.join(' and ')}`,
      ),
    ),
    // If nothing personal is sent, nothing can be left out: the setting is a mistake.
    rule(['webhookType', 'additionalTypes', 'method', 'parameters'], (webhook) =>
      problemIf(
        webhook.parameters?.withoutPersonalData === true &&
          (webhook.method === 'GET' || !hasType(webhook, (type) => hasPersonalData(eventTypes[type].entity))),
        'parameters.withoutPersonalData',
        'allowed only for POST webhooks with a type of orders or returns',
      ),
    ),
    // Changes to stock alone are updates of a product.
    rule(['webhookType', 'additionalTypes', 'parameters'], (webhook) =>
      problemIf(
        webhook.parameters?.onStockChange === true && !hasType(webhook, (type) => type === 'UPDATE_PRODUCT'),
        'parameters.onStockChange',
        'allowed only for UPDATE_PRODUCT',
      ),
    ),
    // Each movement is a record of its own, so it never has a newer event.
    rule(['webhookType', 'additionalTypes', 'ordering'], (webhook) =>
      webhook.ordering === 'latest' && hasType(webhook, (type) => movementOf(type) !== null)
        ? 'latest is not for stock movements: each is a record of its own'
        : null,
    ),
  ];
}

/** Settings that the types do not allow, among those that a replacement keeps. */
export function typeProblems(settings: WebhookSettings): FieldProblem[] {
  const asked = { refused: new Set<string>(), before: null, context: null };
  return typeRules([]).flatMap((rule) => rule(settings, asked));
}
