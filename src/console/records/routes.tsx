/** The five kinds of record, read-only: lists, and single records with their deliveries. */
import * as v from 'valibot';
import { withOutcomes } from '../../api/event-outcomes.ts';
import { Pagination } from '../../api/pagination.ts';
import { newestEvents, newestRecords } from '../../db/console/records.ts';
import { idOf } from '../../domain/catalogue.ts';
import { capital } from '../../domain/text.ts';
import { piece, queryText } from '../api-client.ts';
import { DeliveryList } from '../deliveries/rows.tsx';
import type { ConsoleApp, ConsoleDeps } from '../deps.ts';
import { Page, respond } from '../layout.tsx';
import { namesIn } from '../names.tsx';
import { Card, Code, Empty, Live, More } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Fields, Lists, plain } from './fields.tsx';
import { History } from './history.tsx';
import { kinds } from './kinds.ts';
import { ListPage } from './list.tsx';

const ROWS = 30;
const Shown = v.looseObject({});
const Many = v.object({ data: v.array(Shown), pagination: Pagination });

export function recordRoutes(app: ConsoleApp, { sql }: ConsoleDeps): void {
  for (const kind of kinds) {
    const { path } = kind.entry;
    app.get(`/find${path}`, (c) => {
      const id = (c.req.query('id') ?? '').trim();
      return c.redirect(`${CONSOLE}${path}${id === '' ? '' : `/${piece(id)}`}`, 303);
    });

    app.get(path, async (c) => {
      const { api, viewer } = c.var;
      const { by } = kind;
      const value = by === undefined ? '' : (c.req.query(by.field) ?? '').trim();
      if (by !== undefined && value !== '') {
        const asked = { [by.field]: value, page: c.req.query('page') };
        const listed = await api.list(Many, `/v21${path}`, { ...asked, items: String(ROWS) });
        const { data: items, pagination: paging } = listed;
        return respond(c, <ListPage {...{ kind, items, asked, paging }} />);
      }
      const asked = { before: c.req.query('before') };
      // One more than shown, to see whether there are more.
      const wanted = { before: asked.before ?? null, most: ROWS + 1 };
      const rows = await newestRecords(sql, kind.entry.kind, viewer.session.eshopId, wanted);
      const items = rows.slice(0, ROWS);
      const last = rows.length > ROWS ? items.at(-1) : undefined;
      const next = last === undefined ? undefined : idOf(kind.entry, last);
      return respond(c, <ListPage {...{ kind, items, asked, next }} />);
    });

    app.get(`${path}/:id`, async (c) => {
      const { api, viewer } = c.var;
      const id = c.req.param('id');
      const packed = kind.entry.kind === 'order' ? { withPackingLists: 'true' } : {};
      const { eshopId } = viewer.session;
      const [item, { data: deliveries }, events] = await Promise.all([
        api.get(Shown, `/v21${path}/${piece(id)}`, packed),
        api.list(DeliveryList, '/v21/deliveries', { entityId: id, items: '20' }),
        newestEvents(sql, eshopId, { kind: kind.entry.kind, entityId: id }, 20).then((rows) =>
          withOutcomes(sql, eshopId, rows),
        ),
      ]);
      const names = await namesIn(sql, [...deliveries, ...events.flatMap(({ webhooks }) => webhooks)]);
      const [title, status] = [`${capital(kind.entry.noun)} ${id}`, plain(item.status)];
      return respond(
        c,
        <Page title={title} here={path}>
          <div class="top">
            <h1>{title}</h1>
            {status === null ? null : <span class="state busy">{status}</span>}
          </div>
          <Live id="history" path={`${CONSOLE}${path}/${piece(id)}`}>
            <Card id="happened" title="History">
              {events.length === 0 ? (
                <Empty title="No stored events">
                  Events and deliveries are dropped after some weeks; the record stays.
                </Empty>
              ) : (
                <>
                  <History {...{ events, deliveries, names }} />
                  <p>
                    <a href={`${CONSOLE}/events${queryText({ entityId: id })}`}>All events</a>
                  </p>
                </>
              )}
            </Card>
          </Live>
          <Lists item={item} />
          <Card id="fields" title="Fields">
            <Fields item={item} />
            <More id="record" title="The whole record">
              <Code text={JSON.stringify(item, null, 2)} label="Record" />
            </More>
          </Card>
        </Page>,
      );
    });
  }
}
