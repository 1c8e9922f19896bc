/**
 * The search attributes a Temporal namespace must know before a delivery can start.
 * @module
 */
import {
  deliveryStateKey,
  entityIdKey,
  eshopIdKey,
  lastStatusKey,
  webhookIdKey,
  webhookTypeKey,
} from '../../workflows/search-attributes.ts';

/** Name → type, as `temporal server start-dev --search-attribute Name=Type` writes them. */
export const searchAttributeTypes: Record<string, 'Int' | 'Keyword'> = Object.fromEntries(
  [eshopIdKey, webhookIdKey, webhookTypeKey, entityIdKey, deliveryStateKey, lastStatusKey].map((key) => [
    key.name,
    key.type === 'INT' ? 'Int' : 'Keyword',
  ]),
);
