/** The pages for operators only. */
import type { Context } from 'hono';
import * as v from 'valibot';
import { uuid } from '../../domain/fields.ts';
import { MAX_REASON_CHARS } from '../../domain/operator-action.ts';
import { Problem } from '../../domain/problem.ts';
import { isUnderWay, recoveryActions } from '../../domain/recovery.ts';
import { capital } from '../../domain/text.ts';
import { titlesOf } from '../all/scope.ts';
import type { ConsoleApp, ConsoleDeps, ConsoleEnv, ShownRecovery } from '../deps.ts';
import { Input } from '../form-fields.tsx';
import { Form, NoDefaultButton, Page, respond } from '../layout.tsx';
import { namesIn, WebhookLink, type WebhookNames } from '../names.tsx';
import { Empty, Live } from '../parts.tsx';
import { ALL, CONSOLE } from '../session.ts';
import { Ago, Time } from '../times.tsx';
import { actionsOf, RecoveryRow } from '../webhooks/recoveries.tsx';

const PATH = `${ALL}/recoveries`;
const FORM = 'control';

function Row(props: { recovery: ShownRecovery; eshop: string; names: WebhookNames }) {
  const { recovery, eshop, names } = props;
  const { recoveryId, webhookId, state, since, createdAt } = recovery;
  return (
    <RecoveryRow
      recovery={{ ...recovery, estimatedEndAt: recovery.estimatedEndAt?.toISOString() ?? null }}
      about={
        <>
          <WebhookLink id={webhookId} names={names} />
          <span>{eshop}</span>
          <span>
            events since <Time at={since.toISOString()} />
          </span>
        </>
      }
      begun={
        <span>
          started <Ago at={createdAt.toISOString()} />
        </span>
      }
    >
      {actionsOf(state, false).map((action) => (
        <button
          type="submit"
          form={FORM}
          name="asked"
          value={`${action} ${recoveryId}`}
          class={action === 'cancel' ? 'danger' : 'plain'}
          id={`${action}-${recoveryId}`}
          aria-label={`${capital(action)} the recovery of ${names.get(webhookId)?.name ?? webhookId}`}
        >
          {capital(action)}
        </button>
      ))}
    </RecoveryRow>
  );
}

const RecoveryActionOfId = v.pipe(
  v.string(),
  v.transform((text) => text.split(' ')),
  v.strictTuple([v.picklist(recoveryActions), uuid()]),
);
const ControlForm = v.object({ asked: RecoveryActionOfId, reason: v.pipe(v.string(), v.trim()) });

/** Only authenticated operators reach these pages: no other console has them. */
export function operatorRoutes(app: ConsoleApp, { sql, operator }: ConsoleDeps): void {
  if (operator === undefined) return;
  const { recoveries, control } = operator;

  async function renderOperator(c: Context<ConsoleEnv>, messages: { notice?: string; refused?: string }) {
    const listed = await recoveries();
    const names = await namesIn(sql, listed);
    const titles = titlesOf(c.var.viewer);
    const anyUnderWay = listed.some(({ state }) => isUnderWay(state));
    const page = (
      <Page title="Recoveries" here={PATH} {...messages} names={names}>
        <div class="top">
          <div>
            <h1>Recoveries</h1>
            <p class="quiet">
              Start a recovery on the page of its webhook. If it is canceled, the deliveries that it has
              already created are still made.
            </p>
          </div>
        </div>
        <Form action={PATH} id={FORM} class="card" hidden={!anyUnderWay}>
          <NoDefaultButton />
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
            {listed.length === 0 ? (
              <Empty title="No recoveries yet">
                An e-shop starts one on the page of a webhook, to get the events that its receiver missed.
              </Empty>
            ) : (
              <ul class="rows">
                {listed.map((recovery) => (
                  <Row recovery={recovery} eshop={titles(recovery.eshopId)} names={names} />
                ))}
              </ul>
            )}
          </section>
        </Live>
      </Page>
    );
    return respond(c, page, messages.refused === undefined ? 200 : 409);
  }

  app.get(`${ALL}/recoveries`, (c) => renderOperator(c, {}));

  app.post(`${ALL}/recoveries`, async (c) => {
    const { form } = c.var;
    const sent = v.safeParse(ControlForm, { reason: '', ...form });
    if (!sent.success) throw new Problem(400, 'There is no such action for a recovery.');
    const { asked, reason } = sent.output;
    const [action, id] = asked;
    // The e-shop sees the reason, but not whose account it was.
    const { done, message } = await control(id, action, reason);
    return await renderOperator(c, done ? { notice: message } : { refused: message });
  });
}
