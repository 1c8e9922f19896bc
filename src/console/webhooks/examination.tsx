/** The examination of a webhook's receiver: its description, and its results. */
import { duration } from '../../domain/duration.ts';
import type { Examination } from '../../domain/examination.ts';
import { counted } from '../../domain/text.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import type { Rejection } from '../api-client.ts';
import { Badge } from '../badges.tsx';
import { TypeChoice } from '../form-fields.tsx';
import { ActionButton, Page } from '../layout.tsx';
import { Table } from '../parts.tsx';
import { CONSOLE } from '../session.ts';

const TONES = { ok: 'good', warning: 'warn', fail: 'bad' } as const;

function summary({ rows, complete }: Examination): string {
  if (!complete) return 'The examination ended early: the receiver did not respond, or not in time.';
  const failed = rows.filter(({ verdict }) => verdict === 'fail').length;
  const warnings = rows.filter(({ verdict }) => verdict === 'warning').length;
  if (failed + warnings === 0) return 'Nothing is wrong with this receiver.';
  const found = [
    ...(failed > 0 ? [counted(failed, 'fault')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  return `${found.join(' and ')}. Fix them, and examine the receiver again.`;
}

function Found({ found }: { found: Examination }) {
  return (
    <section class="card" aria-labelledby="found">
      <div class="top">
        <h2 id="found">Result</h2>
        {found.answerMs === null ? null : (
          <span class="quiet">Slowest response: {duration(found.answerMs)}</span>
        )}
      </div>
      <p role="status">{summary(found)}</p>
      <Table label="Result, as a table" columns={['Verdict', 'Check', 'Sent', 'Received', 'How to fix it']}>
        {found.rows.map(({ name, sent, received, verdict, remedy }) => (
          <tr>
            <td>
              <Badge tone={TONES[verdict]}>{verdict}</Badge>
            </td>
            <th scope="row">{name}</th>
            <td>{sent}</td>
            <td>{received}</td>
            <td>{remedy ?? '–'}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

interface ExaminationPageProps {
  readonly webhook: WebhookRecord;
  readonly found?: Examination;
  readonly refused?: Rejection;
  readonly type?: string | undefined;
}

export function ExaminationPage({ webhook, found, refused, type }: ExaminationPageProps) {
  const { id, url, method } = webhook;
  const path = `/webhooks/${id}`;
  const name = nameOf(webhook);
  return (
    <Page title={`Examine ${name}`} here="/webhooks" refused={refused}>
      <h1>Examine {name}</h1>
      <p class="quiet wrap">
        {method} {url}
      </p>
      <p>
        Waybill sends about twenty valid and invalid test requests, all marked with{' '}
        <code>X-Service-Test: true</code>. A good receiver accepts the valid ones and refuses the others. This
        has no consequences: deliveries, incidents and the webhook stay as they are. It takes up to two
        minutes if the receiver is slow.
      </p>
      <div class="actions">
        <ActionButton
          action={`${path}/examine`}
          kind={found === undefined ? 'main' : 'plain'}
          choice={<TypeChoice types={typesOf(webhook)} value={type} />}
        >
          {found === undefined ? 'Examine it' : 'Examine it again'}
        </ActionButton>
        <a class="button" href={`${CONSOLE}${path}`}>
          Back to the webhook
        </a>
      </div>
      {found === undefined ? null : <Found found={found} />}
    </Page>
  );
}
