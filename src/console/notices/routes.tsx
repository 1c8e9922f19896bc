/** The page of an e-shop's notices, and its form. */
import { type Context, Hono } from 'hono';
import type * as v from 'valibot';
import { listNotices } from '../../db/console/notices.ts';
import { eshopRecordSchema } from '../../domain/eshop.ts';
import { type Query, rejectionOf } from '../api-client.ts';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { respond } from '../layout.tsx';
import type { Rejection } from '../problems.ts';
import { namesIn } from '../webhooks/name.tsx';
import { changeOf, fieldsOf, NOTICES, NoticesPage } from './page.tsx';

/** The latest that are shown. */
const SHOWN = 50;

type Eshop = v.InferOutput<typeof eshopRecordSchema>;

export function noticeRoutes({ sql }: ConsoleDeps): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();

  async function shown(
    c: Context<ConsoleEnv>,
    { email, notifications }: Eshop,
    more: { readonly fields?: Query; readonly notice?: string; readonly refused?: Rejection },
  ) {
    const sent = await listNotices(sql, c.var.viewer.session.eshopId, { webhookId: null, limit: SHOWN });
    const fields = more.fields ?? fieldsOf(notifications);
    const names = await namesIn(sql, sent);
    const page = <NoticesPage {...{ email, notifications, sent, names }} {...more} fields={fields} />;
    return respond(c, page, more.refused === undefined ? 200 : 400);
  }
  const read = (c: Context<ConsoleEnv>) => c.var.api.get(eshopRecordSchema, '/v21/eshop');

  app.get(NOTICES, async (c) => shown(c, await read(c), {}));

  // The page is the answer to the form: a new secret is on it, and nowhere else.
  app.post(NOTICES, async (c) => {
    const { form, api } = c.var;
    try {
      const change = { notifications: changeOf(form) };
      const { data: eshop } = await api.send(eshopRecordSchema, 'PATCH', '/v21/eshop', change);
      return await shown(c, eshop, { notice: 'The notices were changed.' });
    } catch (error) {
      return await shown(c, await read(c), { fields: form, refused: rejectionOf(error) });
    }
  });
  return app;
}
