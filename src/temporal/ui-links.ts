/** Links to Temporal's UI for pages: the questions of operators, for some e-shops or all. */
import { eshopIdKey } from '../../workflows/search-attributes.ts';
import type { Pool } from '../db/connection/pool.ts';
import { deliveryTarget } from '../db/deliveries/delivery-log.ts';
import {
  deliveryUrl,
  EXAMPLE,
  listUrl,
  operatorQuestions,
  type Question,
  SEARCHABLE,
} from './operator-questions.ts';

/** The subject of the lists; without one: failing and held deliveries. */
interface About {
  readonly webhookId?: number;
  readonly entityId?: string;
}

/** The questions about this subject, in the order of the documents. */
function questions({ webhookId, entityId }: About): Question[] {
  const subject = { webhookId: webhookId ?? EXAMPLE.webhookId, entityId: entityId ?? EXAMPLE.entityId };
  const names = new Set<Question['name']>();
  if (webhookId !== undefined) names.add('webhook');
  if (entityId !== undefined && SEARCHABLE.test(entityId)) names.add('order');
  if (names.size === 0) for (const name of ['failing', 'held'] as const) names.add(name);
  return operatorQuestions({ ...EXAMPLE, ...subject }).filter(({ name }) => names.has(name));
}

export function createUiLinks(uiUrl: string, namespace: string, sql: Pool) {
  return {
    /** Null if there is no such delivery. */
    async delivery(deliveryId: string): Promise<string | null> {
      const target = await deliveryTarget(sql, deliveryId);
      return target === null ? null : deliveryUrl(uiUrl, namespace, target);
    },
    lists(about: About, eshops: readonly number[] | null) {
      const ofEshops = eshops === null ? '' : ` AND ${eshopIdKey.name} IN (${eshops.join(', ')})`;
      return questions(about).map(({ question, query }) => ({
        name: question,
        url: listUrl(uiUrl, namespace, eshops === null ? query : `(${query})${ofEshops}`),
      }));
    },
  };
}
