/** Links into Temporal's UI for pages: what operators ask, of some e-shops or of all. */
import { eshopIdKey } from '../../workflows/search-attributes.ts';
import type { Pool } from '../db/pool.ts';
import { placeOfDelivery } from '../db/webhooks/delivery-log.ts';
import {
  deliveryUrl,
  EXAMPLE,
  listUrl,
  type Question,
  questionsAbout,
  SEARCHABLE,
} from './operator-questions.ts';

/** What the lists are about; without anything, what fails and what is held. */
interface About {
  readonly webhookId?: number;
  readonly entityId?: string;
}

/** A batch holds deliveries of several e-shops, and so is found by none of them. */
function within(query: string, eshops: readonly number[] | null): string {
  if (eshops === null) return query;
  return `(${query}) AND ${eshopIdKey.name} IN (${eshops.join(', ')})`;
}

/** The questions that this answers, in the order of the documents. */
function questions({ webhookId, entityId }: About): Question[] {
  const all = questionsAbout({
    ...EXAMPLE,
    ...(webhookId === undefined ? {} : { webhookId }),
    entityId: entityId ?? EXAMPLE.entityId,
  });
  const asked = new Set<Question['name']>();
  if (webhookId !== undefined) asked.add('webhook');
  if (entityId !== undefined && SEARCHABLE.test(entityId)) asked.add('order');
  if (asked.size === 0) for (const name of ['failing', 'held'] as const) asked.add(name);
  return all.filter(({ name }) => asked.has(name));
}

/** @param uiUrl the address of Temporal's UI */
export function createUiLinks(uiUrl: string, namespace: string, sql: Pool) {
  return {
    /** Null where there is no such delivery. */
    async delivery(deliveryId: string): Promise<string | null> {
      const place = await placeOfDelivery(sql, deliveryId);
      return place === null ? null : deliveryUrl(uiUrl, namespace, place);
    },
    lists(about: About, eshops: readonly number[] | null) {
      return questions(about).map(({ question, query }) => ({
        name: question,
        url: listUrl(uiUrl, namespace, within(query, eshops)),
      }));
    },
  };
}
