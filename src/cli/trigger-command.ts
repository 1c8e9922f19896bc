/** `waybill trigger`: a test event, delivered like any other. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { findEshop } from '../db/accounts/eshops.ts';
import { recordTestEvent } from '../db/outbox/test-event.ts';
import { testRecordOf } from '../domain/catalogue.ts';
import { eventTypeNames, eventTypes } from '../domain/event-types.ts';
import { argument, type CommandContext, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { table } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { eshopOption } from './options.ts';

const type = v.picklist(
  eventTypeNames,
  '<type> must be an event type, such as CREATE_ORDER; waybill trigger --help lists them.',
);
const triggerOptions = v.object({
  type: argument('<type>', 'event type, such as CREATE_ORDER', type),
  eshop: eshopOption,
});

const HELP = `
The event is recorded like any other and delivered to every active webhook of its type: signed, retried, and in the
delivery log. A webhook whose receiver keeps failing is deactivated. The payload is a sample, whose record does not exist;
its identifier begins with TEST- (0 for stock movements), and every attempt carries X-Service-Test: true. To test one webhook
without consequences, use waybill webhooks test.

Types:
${eventTypeNames.map((name) => `  ${name}: ${eventTypes[name].firesWhen}`).join('\n')}`;

export function triggerCommand(command: Command, { env, print }: CommandContext): void {
  command.addHelpText('after', HELP);
  runs(command, triggerOptions, async ({ type, eshop, json }) => {
    const { entityId, record } = testRecordOf(type, new Date());
    const created = await withDatabase(readSettings(env), async (sql) => {
      if ((await findEshop(sql, eshop)) === null) throw noSuchEshop(eshop);
      return await recordTestEvent(sql, { eshopId: eshop, type, entityId, record });
    });
    if (created === null) {
      throw new UserError(
        `E-shop ${eshop} has no active webhook of the type ${type}: nothing was triggered.`,
      );
    }
    const { eventId, deliveries } = created;
    if (json) return print(JSON.stringify({ eshopId: eshop, type, entityId, eventId, deliveries }));
    print(`Test event ${eventId}: ${type} ${entityId}.`);
    print(table(deliveries.map(({ id, webhookId }) => ({ delivery: id, webhook: webhookId }))));
  });
}
