/** Where a delivery stands, and what can be done, the most useful action first. */
import { type ActionName, MAX_REASON_CHARS } from '../../domain/operator-action.ts';
import { queryText } from '../api-client.ts';
import { Input } from '../form-fields.tsx';
import { Form, NoDefaultButton } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { useViewer } from '../viewer.ts';
import { ACTION_TEXTS, isUnderWay } from './actions.ts';
import { type StandingProps, standingOf } from './standing.tsx';

export interface NextProps extends StandingProps {
  /** The actions that would be accepted now and are allowed to the viewer. */
  readonly offered: readonly ActionName[];
}

/** Whether its webhook lost more than this delivery, because failures have since deactivated it. */
function lostMore({ delivery, webhook: { lastDeactivation } }: NextProps): boolean {
  return (
    lastDeactivation !== null &&
    lastDeactivation.reason !== 'user' &&
    lastDeactivation.at > delivery.createdAt
  );
}

function Activate({ webhookId }: { webhookId: number }) {
  return (
    <button
      type="submit"
      formaction={`${CONSOLE}/webhooks/${webhookId}/activate`}
      class="main"
      id="do-activate"
    >
      Activate webhook
    </button>
  );
}

/** The actions after its end. Nothing can be sent to an inactive webhook. */
function AfterEnd(props: NextProps) {
  const { delivery, webhook } = props;
  const { id, state, createdAt } = delivery;
  if (!webhook.active) return <Activate webhookId={webhook.id} />;
  const isFine = state === 'delivered' || state === 'superseded';
  const recovers = !isFine && lostMore(props);
  const redeliver = (
    <button
      type="submit"
      formaction={`${CONSOLE}/deliveries/${id}/redeliver`}
      class={isFine || recovers ? 'plain' : 'main'}
      id="do-redeliver"
    >
      Redeliver
    </button>
  );
  const recover = isFine ? null : (
    <a
      class={`button ${recovers ? 'main' : ''}`}
      href={`${CONSOLE}/webhooks/${webhook.id}/recover${queryText({ since: createdAt.slice(0, 16) })}`}
    >
      Recover
    </a>
  );
  return (
    <>
      {recovers ? recover : redeliver}
      {recovers ? redeliver : recover}
    </>
  );
}

function WhileOpen({ delivery: { id, heldBy }, webhook, offered }: NextProps) {
  return (
    <>
      {offered.map((action) =>
        action === 'giveUp' ? null : (
          <button
            type="submit"
            name="action"
            value={action}
            class={action === 'hold' ? 'plain' : 'main'}
            id={`do-${action}`}
          >
            {ACTION_TEXTS[action][0]}
          </button>
        ),
      )}
      {webhook.active || heldBy !== null ? null : <Activate webhookId={webhook.id} />}
      {offered.includes('giveUp') ? (
        <a class="button danger" href={`${CONSOLE}/deliveries/${id}/give-up`}>
          Give up
        </a>
      ) : null}
    </>
  );
}

export function Reason() {
  const label =
    useViewer().session.role === 'warehouse' ? 'Reason (the e-shop sees it)' : 'Reason (optional)';
  return <Input name="reason" label={label} maxlength={MAX_REASON_CHARS} />;
}

/** One form for all actions: each button names its path. */
export function Next(props: NextProps) {
  const { delivery } = props;
  const viewer = useViewer();
  const isOpen = isUnderWay(delivery.state);
  return (
    <Form action={`/deliveries/${delivery.id}/act`} class="card next" aria-label="Where it stands">
      <NoDefaultButton />
      <div id="next">
        <p>
          <strong class="wrap">{standingOf(props, viewer)}</strong>
          {isOpen || props.webhook.active ? null : <span class="quiet"> Its webhook is inactive.</span>}
        </p>
        <div class="actions">{isOpen ? <WhileOpen {...props} /> : <AfterEnd {...props} />}</div>
      </div>
      {/* Outside the part that refreshes itself, which would empty it. */}
      {isOpen && viewer.session.role === 'warehouse' ? <Reason /> : null}
    </Form>
  );
}
