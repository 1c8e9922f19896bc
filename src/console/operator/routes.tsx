/** The pages for operators only. */
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { uuid } from '../../domain/fields.ts';
import { Problem } from '../../domain/problem.ts';
import { recoveryActions } from '../../domain/recovery.ts';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { respond } from '../layout.tsx';
import { ALL } from '../session.ts';
import { namesIn } from '../webhooks/name.tsx';
import type { OperatorDeps } from './deps.ts';
import { RecoveriesPage } from './recoveries.tsx';

const Asked = v.pipe(
  v.string(),
  v.transform((text) => text.split(' ')),
  v.strictTuple([v.picklist(recoveryActions), uuid()]),
);
const Form = v.object({ asked: Asked, reason: v.pipe(v.string(), v.trim()) });

/** Only authenticated operators reach these pages: no other console has them. */
export function operatorRoutes(
  { recoveries, control }: OperatorDeps,
  sql: ConsoleDeps['sql'],
): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();

  async function shown(c: Context<ConsoleEnv>, messages: { notice?: string; refused?: string }) {
    const listed = await recoveries();
    const names = await namesIn(sql, listed);
    const page = <RecoveriesPage recoveries={listed} names={names} {...messages} />;
    return respond(c, page, messages.refused === undefined ? 200 : 409);
  }

  app.get(`${ALL}/recoveries`, (c) => shown(c, {}));

  app.post(`${ALL}/recoveries`, async (c) => {
    const { form, viewer } = c.var;
    const sent = v.safeParse(Form, { reason: '', ...form });
    if (!sent.success) throw new Problem(400, 'There is no such action for a recovery.');
    const { asked, reason } = sent.output;
    const [action, id] = asked;
    const by = viewer.session.username;
    const { done, message } = await control(id, action, reason === '' ? by : `${reason} (${by})`);
    return await shown(c, done ? { notice: message } : { refused: message });
  });
  return app;
}
