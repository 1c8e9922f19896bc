/** Why an event has no delivery, to one webhook and to any (docs/interface.md, L9). */
import { describe, expect, test } from 'vitest';
import {
  absenceAt,
  absenceOf,
  type WebhookAbsence,
  type WebhookVersion,
} from '../../../src/domain/absence.ts';

const at = new Date('2026-11-20T12:00:00Z');
const event = { type: 'UPDATE_ORDER', changed: 'note', origin: 'shop', at } as const;

/** What the webhook became so many seconds after the event. */
function version(seconds: number, change: Partial<WebhookVersion> = {}): WebhookVersion {
  return {
    webhookId: 7,
    at: new Date(at.getTime() + seconds * 1_000),
    types: ['UPDATE_ORDER'],
    active: true,
    onStockChange: false,
    skipOwn: false,
    deleted: false,
    reason: null,
    deliveryId: null,
    lastError: null,
    ...change,
  };
}
const off = { active: false } as const;
const deleted = { active: false, deleted: true } as const;
const failed = { ...off, reason: 'retriesExhausted', deliveryId: 'd-1' } as const;

describe('at one webhook', () => {
  test.each<[WebhookAbsence['cause'], string, WebhookVersion[]]>([
    ['createdLater', 'was created later, at 2026-11-20T12:00:01.000Z.', [version(1), version(60)]],
    ['deletedBefore', 'had been deleted at 2026-11-20T11:59:30.000Z.', [version(-60), version(-30, deleted)]],
    [
      'otherType',
      'was of the type CREATE_ORDER at that time.',
      [version(-60, { types: ['CREATE_ORDER'] }), version(5)],
    ],
    [
      'otherType',
      'was of the types CREATE_ORDER and CREATE_RETURN at that time.',
      [version(-60, { types: ['CREATE_ORDER', 'CREATE_RETURN'] }), version(5)],
    ],
    [
      'notKept',
      'was active; its delivery is no longer kept.',
      [version(-60, { types: ['CREATE_ORDER', 'UPDATE_ORDER'] })],
    ],
    [
      'createdInactive',
      'was inactive: it was created inactive at 2026-11-20T11:59:00.000Z and had not been activated yet.',
      [version(-60, off), version(-30, off), version(5)],
    ],
    [
      'deactivatedByUser',
      'was inactive: it had been deactivated at 2026-11-20T11:59:30.000Z on request.',
      // The first of three deactivations was followed by an activation, the last one came too late.
      [
        version(-60, { ...off, reason: 'gone' }),
        version(-45),
        version(-30, { ...off, reason: 'user' }),
        version(-15, off),
        version(5),
        version(60, { ...off, reason: 'gone' }),
      ],
    ],
    [
      'retriesExhausted',
      'was inactive: it had been deactivated at 2026-11-20T11:59:30.000Z because all retries of delivery d-1 had failed (HTTP 503).',
      [version(-60), version(-30, { ...failed, lastError: 'HTTP 503' })],
    ],
    [
      'retriesExhausted',
      'was inactive: it had been deactivated at 2026-11-20T11:59:30.000Z because all retries of delivery d-1 had failed.',
      [version(-60), version(-30, failed)],
    ],
    [
      'gone',
      'was inactive: it had been deactivated at 2026-11-20T11:59:30.000Z because its receiver had responded to delivery d-1 with 410 Gone.',
      [version(-60), version(-30, { ...failed, reason: 'gone' })],
    ],
    ['inactive', 'was inactive; since when and why is not known.', [version(-60, { active: null })]],
    ['inactive', 'was inactive; since when and why is not known.', [version(-60), version(-30, off)]],
    [
      'deletedSince',
      'was deleted at 2026-11-20T12:01:00.000Z; its deliveries are no longer available.',
      [version(-60), version(60, deleted)],
    ],
    [
      'changedMeanwhile',
      'was changed at 2026-11-20T12:00:00.000Z, while the event was being recorded.',
      [version(0)],
    ],
    [
      'changedMeanwhile',
      'was changed at 2026-11-20T12:00:10.000Z, while the event was being recorded.',
      [version(-60), version(10), version(60)],
    ],
    ['notKept', 'was active; its delivery is no longer kept.', [version(-60), version(10.001)]],
  ])('%s: it %s', (cause, text, versions) => {
    expect(absenceAt(event, versions)).toEqual({
      webhookId: 7,
      deleted: versions.at(-1)?.deleted,
      cause,
      reason: `Webhook 7 ${text}`,
    });
  });

  test('changes to stock alone are explained by not having asked for them, active or not', () => {
    const stock = { ...event, changed: 'stock' };
    const asks = { onStockChange: true };
    for (const versions of [
      [version(-60)],
      [version(-60), version(-30, off)],
      [version(-60, asks), version(-30)],
    ])
      expect(absenceAt(stock, versions)).toMatchObject({
        cause: 'stockOnly',
        reason: 'Webhook 7 did not ask for changes to stock alone.',
      });
    expect(absenceAt(stock, [version(-60), version(-30, { ...off, ...asks, reason: 'user' })])?.cause).toBe(
      'deactivatedByUser',
    );
    expect(absenceAt({ ...event, changed: 'name,stock' }, [version(-60)])?.cause).toBe('notKept');
    expect(absenceAt(stock, [version(-60, deleted)])?.cause).toBe('deletedBefore');
  });

  test("skipOwn explains the e-shop's own changes, except of stock, active or not", () => {
    const skips = { skipOwn: true };
    for (const versions of [
      [version(-60, skips)],
      [version(-60, skips), version(-30, { ...skips, ...off })],
      [version(-60, skips), version(30)],
    ])
      expect(absenceAt(event, versions)).toMatchObject({
        cause: 'ownChange',
        reason: 'Webhook 7 leaves out changes by the e-shop itself.',
      });
    const causes = (more: Partial<Parameters<typeof absenceAt>[0]>) =>
      absenceAt({ ...event, ...more }, [
        version(-60, {
          ...skips,
          onStockChange: true,
          types: ['UPDATE_ORDER', 'CREATE_STOCK_MOVEMENT_ORDER'],
        }),
      ])?.cause;
    expect(causes({ origin: 'warehouse' })).toBe('notKept');
    expect(causes({ origin: 'service' })).toBe('notKept');
    expect(causes({ changed: 'stock' })).toBe('notKept');
    expect(causes({ type: 'CREATE_STOCK_MOVEMENT_ORDER', changed: null })).toBe('notKept');
    expect(causes({})).toBe('ownChange');
  });

  test('a webhook created later and deleted, or one without versions, needs no explanation', () => {
    expect(absenceAt(event, [version(1), version(2, deleted)])).toBeNull();
    expect(absenceAt(event, [])).toBeNull();
  });
});

describe('at all webhooks', () => {
  const none = 'No webhook of the type UPDATE_ORDER was active at 2026-11-20T12:00:00.000Z.';
  const one = (reason: string, change: Partial<WebhookAbsence> = {}): WebhookAbsence => ({
    webhookId: 7,
    deleted: false,
    cause: 'createdLater',
    reason,
    ...change,
  });
  const gone = (reason: string) => one(reason, { deleted: true, cause: 'deletedBefore' });
  const lost = (reason: string) => one(reason, { deleted: true, cause: 'deletedSince' });

  test.each<[string, string, string, WebhookAbsence[]]>([
    ['no webhook', 'noWebhook', 'There has been no webhook of the type UPDATE_ORDER.', []],
    ['the only webhook is named', 'noActiveWebhook', `${none} A.`, [one('A.')]],
    ['the only webhook is named, even if deleted', 'noActiveWebhook', `${none} A.`, [gone('A.')]],
    [
      'deleted ones are counted beside one that is there',
      'noActiveWebhook',
      `${none} B. 1 deleted webhook is listed in \`webhooks\`.`,
      [gone('A.'), one('B.')],
    ],
    [
      'several deleted ones are counted',
      'noActiveWebhook',
      `${none} 2 deleted webhooks are listed in \`webhooks\`.`,
      [gone('A.'), gone('B.')],
    ],
    ['three are named', 'noActiveWebhook', `${none} A. B. C.`, [one('A.'), one('B.'), one('C.')]],
    [
      'three of more are named, and the rest counted',
      'noActiveWebhook',
      `${none} A. B. C. 2 more are listed in \`webhooks\`.`,
      ['A.', 'B.', 'C.', 'D.', 'E.'].map((reason) => one(reason)),
    ],
    [
      'it had deliveries that are no longer there: only those count',
      'noLongerThere',
      'B. 1 deleted webhook is listed in `webhooks`.',
      [one('A.'), one('B.', { cause: 'notKept' }), lost('C.')],
    ],
    ['the delivery went with its webhook', 'noLongerThere', 'B.', [one('A.'), lost('B.')]],
    [
      'the deliveries are no longer kept',
      'noLongerThere',
      'A. B.',
      [one('A.', { cause: 'notKept' }), one('B.', { cause: 'notKept' })],
    ],
  ])('%s', (_, cause, reason, absences) => {
    expect(absenceOf(event, absences)).toEqual({ cause, reason });
  });
});
