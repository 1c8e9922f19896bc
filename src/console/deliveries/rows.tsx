/** Deliveries as rows of lists. */
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { Delivery } from '../../api/deliveries/record.ts';
import { Pagination } from '../../api/pagination.ts';
import { counted } from '../../domain/text.ts';
import { State } from '../badges.tsx';
import { WebhookLink, type WebhookNames } from '../names.tsx';
import { TypeName } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago, Due } from '../times.tsx';
import { WaitReason } from './standing.tsx';

export const DeliveryList = v.object({ data: v.array(Delivery), pagination: Pagination });

/** The rows, newest first. */
export function DeliveryRows(props: {
  deliveries: readonly v.InferOutput<typeof Delivery>[];
  /** The names of webhooks; left out on the page of their own webhook. */
  names?: WebhookNames;
  /** The e-shop, if the list has deliveries of several. */
  eshopOf?: (id: string) => string | null;
  /** The control that chooses a delivery. */
  choose?: (id: string) => Child;
}) {
  const { deliveries, names, eshopOf = () => null, choose = () => null } = props;
  return (
    <ul class="rows">
      {deliveries.map((delivery) => {
        const { id, webhookType, entityId, webhookId, state, attemptsMade, lastError } = delivery;
        const { createdAt, nextAttemptAt } = delivery;
        return (
          <li>
            <p class="name">
              <a href={`${CONSOLE}/deliveries/${id}`}>
                <TypeName type={webhookType} /> <span class="quiet">{entityId}</span>
              </a>
            </p>
            <p class="more">
              {eshopOf(id) === null ? null : <span class="eshop">{eshopOf(id)}</span>}
              {names === undefined ? null : <WebhookLink id={webhookId} names={names} />}
              <span>{counted(attemptsMade, 'attempt')}</span>
              {lastError === null || state === 'delivered' ? null : <span>{lastError}</span>}
              <WaitReason delivery={delivery} />
              {nextAttemptAt === null ? null : (
                <span>
                  next attempt <Due at={nextAttemptAt} />
                </span>
              )}
            </p>
            <p class="end">
              {choose(id)}
              <State state={state} />
              <Ago at={createdAt} />
            </p>
          </li>
        );
      })}
    </ul>
  );
}
