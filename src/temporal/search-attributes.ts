/** The search attributes that a Temporal namespace must know before a delivery can start. */
import {
  deliveryStateKey,
  entityIdKey,
  eshopIdKey,
  lastStatusKey,
  receiverHostKey,
  webhookIdKey,
  webhookTypeKey,
} from '../../workflows/search-attributes.ts';

const TYPES = { INT: 'Int', KEYWORD: 'Keyword' } as const;

/** Name → type, as `temporal server start-dev --search-attribute Name=Type` writes them. */
export const searchAttributeTypes: Record<string, 'Int' | 'Keyword'> = Object.fromEntries(
  [
    eshopIdKey,
    webhookIdKey,
    webhookTypeKey,
    entityIdKey,
    receiverHostKey,
    deliveryStateKey,
    lastStatusKey,
  ].map((key) => [key.name, TYPES[key.type]]),
);
