/** The search attributes that a Temporal namespace must know before a delivery can start. */
import * as keys from '../../workflows/search-attributes.ts';

const TYPES = { INT: 'Int', KEYWORD: 'Keyword' } as const;

/** Name → type, as `temporal server start-dev --search-attribute Name=Type` writes them. */
export const searchAttributeTypes: Record<string, 'Int' | 'Keyword'> = Object.fromEntries(
  Object.values(keys).map((key) => [key.name, TYPES[key.type]]),
);
