/** The recoveries of all e-shops, with progress and controls. */
import { MAX_REASON_CHARS } from '../../domain/operator-action.ts';
import { isUnderWay, type RecoveryAction } from '../../domain/recovery.ts';
import { titlesOf } from '../all/scope.ts';
import { RecoveryBadge } from '../badges.tsx';
import { Input } from '../form-fields.tsx';
import { Form, Page } from '../layout.tsx';
import { Live } from '../live-parts.tsx';
import { Empty } from '../parts.tsx';
import { ALL, CONSOLE } from '../session.ts';
import { Ago, Time } from '../times.tsx';
import { useViewer } from '../viewer.ts';
import { WebhookLink, type WebhookNames } from '../webhooks/name.tsx';
import type { ShownRecovery } from './deps.ts';

const PATH = `${ALL}/recoveries`;
const FORM = 'control';

function actionsOf({ state }: ShownRecovery): readonly (readonly [RecoveryAction, string])[] {
  if (!isUnderWay(state)) return [];
  const other = state === 'running' ? (['pause', 'Pause'] as const) : (['resume', 'Resume'] as const);
  return [other, ['cancel', 'Cancel']];
}

function Row(props: { recovery: ShownRecovery; eshop: string; names: WebhookNames }) {
  const { recovery, eshop, names } = props;
  const { recoveryId, webhookId, state, reason, done, failed, superseded, left, count, since, createdAt } =
    recovery;
  const { estimatedEndAt, finishedAt } = recovery;
  return (
    <li>
      <p class="name">
        {done.toLocaleString('en-US')} of {count.toLocaleString('en-US')} delivered
      </p>
      <p class="more">
        <WebhookLink id={webhookId} names={names} />
        <span>{eshop}</span>
        <span>
          events since <Time at={since.toISOString()} />
        </span>
        <span>{left.toLocaleString('en-US')} left</span>
        {failed === 0 ? null : <span>{failed.toLocaleString('en-US')} failed again</span>}
        {superseded === 0 ? null : <span>{superseded.toLocaleString('en-US')} superseded</span>}
        {estimatedEndAt === null || finishedAt !== null ? null : (
          <span>
            ends <Ago at={estimatedEndAt.toISOString()} />
          </span>
        )}
        {reason === null ? null : <span>{reason}</span>}
      </p>
      <div class="end">
        <RecoveryBadge state={state} />
        <span>
          started <Ago at={createdAt.toISOString()} />
        </span>
        <p class="acts">
          {actionsOf(recovery).map(([action, name]) => (
            <button
              type="submit"
              form={FORM}
              name="asked"
              value={`${action} ${recoveryId}`}
              class={action === 'cancel' ? 'danger' : 'plain'}
              id={`${action}-${recoveryId}`}
              aria-label={`${name} the recovery of ${names.get(webhookId)?.name ?? webhookId}`}
            >
              {name}
            </button>
          ))}
        </p>
      </div>
    </li>
  );
}

export function RecoveriesPage(props: {
  recoveries: readonly ShownRecovery[];
  names: WebhookNames;
  notice?: string | undefined;
  refused?: string | undefined;
}) {
  const { recoveries, names, notice, refused } = props;
  const titles = titlesOf(useViewer());
  const anyUnderWay = recoveries.some(({ state }) => isUnderWay(state));
  return (
    <Page title="Recoveries" here={PATH} {...{ notice, refused, names }}>
      <div class="top">
        <div>
          <h1>Recoveries</h1>
          <p class="quiet">
            Start a recovery on the page of its webhook. If it is canceled, the deliveries that it has already
            created are still made.
          </p>
        </div>
      </div>
      <Form action={PATH} id={FORM} class="card" hidden={!anyUnderWay}>
        {anyUnderWay ? (
          <Input
            name="reason"
            label="Reason for pausing or canceling a recovery (shown to its e-shop)"
            maxlength={MAX_REASON_CHARS}
          />
        ) : null}
      </Form>
      <Live id="recoveries" path={`${CONSOLE}${PATH}`}>
        <section class="card flush" aria-label="Recoveries, those under way first">
          {recoveries.length === 0 ? (
            <Empty title="No recoveries yet">
              An e-shop starts one on the page of a webhook, to get the events that its receiver missed.
            </Empty>
          ) : (
            <ul class="rows">
              {recoveries.map((recovery) => (
                <Row recovery={recovery} eshop={titles(recovery.eshopId)} names={names} />
              ))}
            </ul>
          )}
        </section>
      </Live>
    </Page>
  );
}
