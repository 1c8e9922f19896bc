/** The page of an e-shop's notices, and its form. */
import type { Context } from 'hono';
import type * as v from 'valibot';
import { listNotices } from '../../db/console/notices.ts';
import { eshopRecordSchema } from '../../domain/eshop.ts';
import type { Notifications } from '../../domain/notifications.ts';
import { type Query, type Rejection, rejectionOf } from '../api-client.ts';
import type { ConsoleApp, ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { Check, Input, Select, TextArea } from '../form-fields.tsx';
import { Form, Page, respond } from '../layout.tsx';
import { namesIn } from '../names.tsx';
import { Card, Empty } from '../parts.tsx';
import { NewSecret } from '../webhooks/secret.tsx';
import { NoticeRows } from './sent.tsx';

const NOTICES = '/notices';

function fieldsOf({ warning, recovered, emails, url, format }: Notifications): Query {
  return {
    warning: String(warning),
    recovered: String(recovered),
    emails: emails.map(({ address }) => address).join('\n'),
    url: url ?? '',
    format,
  };
}

/** Where the API names each field. */
const PATHS = ['notifications.emails', 'notifications.url', 'notifications.format'];

/** The body of the request; the API checks it. */
function changeOf(fields: Query): object {
  const { emails = '', url = '', format = 'text' } = fields;
  const addresses = emails.split(/[\s,;]+/).filter((each) => each !== '');
  return {
    warning: fields.warning === 'true',
    recovered: fields.recovered === 'true',
    emails: addresses,
    url: url.trim() === '' ? null : url.trim(),
    format,
    ...(fields.newSecret === 'true' ? { secret: null } : {}),
  };
}

const SHOWN = 50;

export function noticeRoutes(app: ConsoleApp, { sql }: ConsoleDeps): void {
  async function renderNotices(
    c: Context<ConsoleEnv>,
    { email, notifications }: v.InferOutput<typeof eshopRecordSchema>,
    more: { readonly fields?: Query; readonly notice?: string; readonly refused?: Rejection },
  ) {
    const { emails, url, secret } = notifications;
    const { fields = fieldsOf(notifications), ...messages } = more;
    const unconfirmed = emails.filter(({ confirmedAt }) => confirmedAt === null);
    const sent = await listNotices(sql, c.var.viewer.session.eshopId, { webhookId: null, limit: SHOWN });
    const names = await namesIn(sql, sent);
    const page = (
      <Page title="Notices" here={NOTICES} {...messages} fields={PATHS}>
        <h1>Notices</h1>
        {secret === undefined ? null : (
          <NewSecret secret={secret} use="The requests to your URL are signed with it." />
        )}
        <Form action={NOTICES} values={fields} class="card">
          <p>
            When a webhook is deactivated, <span class="wrap">{email}</span> always gets an e-mail. Here you
            choose which other notices are sent, and who else gets them.
          </p>
          <Check name="warning" label="Warn before a webhook is deactivated" />
          <Check name="recovered" label="Notify when a webhook has recovered" />
          <TextArea
            name="emails"
            label="Further addresses"
            hint="Up to five, one per line. Each first gets a mail with a confirmation link, and nothing else until it is confirmed."
          />
          {unconfirmed.length === 0 ? null : (
            <p class="quiet">Not confirmed yet: {unconfirmed.map(({ address }) => address).join(', ')}</p>
          )}
          <Input
            name="url"
            label="URL"
            inputmode="url"
            autocomplete="off"
            spellcheck={false}
            hint="Of a channel in Slack, Mattermost or Teams, or of your own program."
          />
          <Select
            name="format"
            label="Its form"
            options={Object.entries({ text: 'Slack, Mattermost, programs', teams: 'Microsoft Teams' })}
          />
          {url === null ? null : <Check name="newSecret" label="Make a new secret for the URL" />}
          <p class="actions">
            <button type="submit" class="main">
              Save
            </button>
          </p>
        </Form>
        <Card id="sent" title="Sent" flush>
          {sent.length === 0 ? (
            <Empty title="No notices yet">
              Warnings, deactivations and webhooks that have recovered appear here.
            </Empty>
          ) : (
            <NoticeRows notices={sent} names={names} />
          )}
        </Card>
      </Page>
    );
    return respond(c, page, more.refused === undefined ? 200 : 400);
  }
  const read = (c: Context<ConsoleEnv>) => c.var.api.get(eshopRecordSchema, '/v21/eshop');

  app.get(NOTICES, async (c) => renderNotices(c, await read(c), {}));

  // The response to the form is the page itself: only there is a new secret shown.
  app.post(NOTICES, async (c) => {
    const { form, api } = c.var;
    try {
      const change = { notifications: changeOf(form) };
      const { data: eshop } = await api.send(eshopRecordSchema, 'PATCH', '/v21/eshop', change);
      return await renderNotices(c, eshop, { notice: 'The notices were changed.' });
    } catch (error) {
      return await renderNotices(c, await read(c), { fields: form, refused: rejectionOf(error) });
    }
  });
}
