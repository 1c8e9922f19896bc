/** The conditions of an instance that need an operator: nothing up to each limit, a sentence beyond it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ATTEMPT_LATE_SECONDS,
  CHANGE_LATE_SECONDS,
  type DatabaseStatus,
  MAIL_LATE_SECONDS,
  MIN_DAYS_AHEAD,
  messagesOf,
  problemIds,
  QUEUE_LATE_SECONDS,
  type Status,
  type TemporalStatus,
} from '../../src/cli/status.ts';
import { statusTable } from '../../src/cli/status-command.ts';
import { remembered } from '../../src/lib/remembered.ts';

type Working = Extract<DatabaseStatus, { problem: null }>;

const noNotices = {
  pending: 0,
  deferred: 0,
  oldestSeconds: null,
  oldestOf: null,
  lastError: null,
  givenUp: 0,
  givenUpOf: null,
};
const tea = { id: 7, name: 'Tea Ltd' };

const database: Working = {
  problem: null,
  version: '18.4',
  bytes: 3 * 2 ** 30,
  outbox: {
    fresh: 0,
    bulk: 0,
    recovered: 0,
    retry: 0,
    paused: 0,
    undelivered: 0,
    delivered: 0,
    withoutWorkflow: 0,
    blocked: 0,
    blockedRecords: 0,
    blockedSeconds: null,
    oldestSeconds: null,
    changes: 0,
    oldestChangeSeconds: null,
  },
  open: { pending: 0, retrying: 0, held: 0, holdingWebhooks: 0 },
  overdue: {
    attemptSeconds: 0,
    queue: { fresh: 0, retry: 0, bulk: 0, recovered: 0, undelivered: 0 },
    lastClaims: { fresh: 1, retry: 1, bulk: 1, recovered: 1, undelivered: 1 },
    stuck: [],
  },
  failing: 0,
  windowsLost: 0,
  mails: noNotices,
  furtherNotices: noNotices,
  heldUpBy: null,
  deadRowsKeptBy: [],
  recoveries: [],
  partitions: { since: null, until: new Date('2026-12-28'), daysAhead: 35, outOfRange: 0 },
  mailFolder: null,
  diskFull: false,
  clockStep: null,
  changeLoop: null,
};
const temporal: TemporalStatus = {
  problem: null,
  address: '127.0.0.1:7233',
  namespace: 'default',
  taskQueue: 'deliveries',
  workers: ['1@host'],
  unpolled: [],
  paused: { count: 0, example: null },
};
const needs = (change: Partial<Working>, other: Partial<Status> = {}) =>
  messagesOf({ database: { ...database, ...change }, temporal, ...other });
const outbox = (change: Partial<Working['outbox']>) => needs({ outbox: { ...database.outbox, ...change } });

describe('nothing needs attention', () => {
  it('on a healthy instance', () => {
    expect(needs({})).toEqual([]);
  });

  it('because of held and failing deliveries, which are for the e-shop to fix', () => {
    expect(needs({ open: { pending: 5, retrying: 900, held: 800, holdingWebhooks: 3 } })).toEqual([]);
  });

  it('up to each limit', () => {
    expect(outbox({ changes: 3, oldestChangeSeconds: CHANGE_LATE_SECONDS })).toEqual([]);
    expect(needs({ mails: { ...noNotices, pending: 1, oldestSeconds: MAIL_LATE_SECONDS } })).toEqual([]);
    // A URL or address that accepts nothing is a matter of its e-shop, which named it.
    const late = { ...noNotices, pending: 1, oldestSeconds: 2 * MAIL_LATE_SECONDS, givenUp: 3 };
    expect(needs({ furtherNotices: late })).toEqual([]);
    expect(needs({ partitions: { ...database.partitions, daysAhead: MIN_DAYS_AHEAD } })).toEqual([]);
  });

  it('because of deliveries that wait for a permit, however long', () => {
    expect(outbox({ fresh: 3_000, oldestSeconds: 10 * QUEUE_LATE_SECONDS })).toEqual([]);
  });
});

describe('an operator is needed', () => {
  it('if attempts do not begin for long', () => {
    const { overdue } = database;
    expect(needs({ overdue: { ...overdue, attemptSeconds: ATTEMPT_LATE_SECONDS } })).toEqual([]);
    expect(needs({ overdue: { ...overdue, attemptSeconds: 301 } })).toEqual([
      'Attempts scheduled in Temporal are not starting; the oldest is overdue by 5 min 1 s. Check that workers are polling; their log says why they fail.',
    ]);
  });

  it('if no worker asks for a class, although others are asked for', () => {
    const { overdue } = database;
    const { retry: _, ...neverRetry } = overdue.lastClaims;
    const due = (retry: number, lastClaims: Working['overdue']['lastClaims']) =>
      needs({ overdue: { ...overdue, queue: { ...overdue.queue, retry }, lastClaims } });
    const asked = (retry: number) => ({ ...overdue.lastClaims, retry });
    expect(due(QUEUE_LATE_SECONDS, asked(301))).toEqual([]);
    // As while receivers hang: nothing can be claimed, and the workers ask all the same.
    expect(due(301, asked(QUEUE_LATE_SECONDS))).toEqual([]);
    for (const lastClaims of [asked(301), neverRetry])
      expect(due(301, lastClaims)).toEqual([
        "No worker takes the deliveries of the class retry from the queue, the first due for 5 min 1 s: the workers' log says why. Restart them: nothing is lost.",
      ]);
  });

  it('if deliveries expired because of a failure of Waybill itself', () => {
    expect(needs({ windowsLost: 2 })).toEqual([
      "2 deliveries expired in the last day because of a failure of Waybill itself: waybill deliveries list --window-lost names them, and the workers' log the reason.",
    ]);
  });

  it('if changes are not signaled', () => {
    expect(outbox({ changes: 1, oldestChangeSeconds: 61 })).toEqual([
      "1 change to webhooks or pre-orders has not been signaled to Temporal, the oldest for 1 min 1 s. See the workers' log for the reason.",
    ]);
  });

  it('if a mail is not sent, or was rejected', () => {
    const late = { ...noNotices, pending: 2, deferred: 9, oldestSeconds: 7_200, oldestOf: tea };
    const refused = { lastError: 'the mail server is full', givenUpOf: { id: 9, name: 'Coffee\nLtd' } };
    expect(needs({ mails: { ...late, ...refused, givenUp: 1 } })).toEqual([
      '2 mails to e-shops have not been sent, the oldest waiting for 2 h, to e-shop 7 (Tea Ltd); the mail server is full: check SMTP_URL and the mail server.',
      '1 mail was given up in the last day because the mail server refused it, to e-shop 9 (Coffee Ltd), which does not know about it: correct its address with waybill eshop update, and it is sent again.',
    ]);
    expect(needs({ mails: { ...noNotices, ...refused, givenUp: 2 } })).toEqual([
      "2 mails were given up in the last day because the mail server refused them, the last one to e-shop 9 (Coffee Ltd), which does not know about it: correct its address with waybill eshop update, and they are sent again. The lines of the workers' log with the alarm mailRefused name the others.",
    ]);
  });

  it("if the database's clock was set, but not if mails go to files by choice", () => {
    expect(
      needs({ mailFolder: '/data/mail', clockStep: { at: new Date(0), ms: -3_600_000, differenceMs: 0 } }),
    ).toEqual([
      'The clock of the database was set back by 1 h, noticed at 1970-01-01T00:00:00.000Z: check its time synchronization.',
    ]);
  });

  it('if partitions run out, or rows belong to none', () => {
    expect(needs({ partitions: { ...database.partitions, daysAhead: 13.9, outOfRange: 2 } })).toEqual([
      'Partitions exist only for the next 13 days. Run waybill retention, and check that its schedule is not paused.',
      '2 rows are outside all partitions: check the clocks of the machines.',
    ]);
  });

  it('if there is no worker, or Temporal or the database is unavailable', () => {
    expect(needs({}, { temporal: { ...temporal, workers: [] } })).toEqual([
      'No worker is polling the task queue deliveries of the namespace default: start a process with ROLE=worker or ROLE=all.',
    ]);
    expect(needs({}, { temporal: { ...temporal, unpolled: ['workflows', 'steps'] } })).toEqual([
      "No worker polls Temporal for workflows and steps: the workers' log says why. Restart them: nothing is lost.",
    ]);
    const away = { problem: 'Temporal at 127.0.0.1:7233 cannot be reached.', away: true };
    expect(needs({}, { temporal: away })).toEqual([
      'Temporal at 127.0.0.1:7233 cannot be reached. Events are still accepted, and attempts made from the queue. Retries that Temporal has planned wait until it is back.',
    ]);
    expect(messagesOf({ database: { problem: 'The database is unavailable.' }, temporal: away })).toEqual([
      'The database is unavailable.',
      'Temporal at 127.0.0.1:7233 cannot be reached.',
    ]);
  });

  it('if Temporal is misconfigured, without a promise of its return', () => {
    const problem = 'The namespace drill does not exist at 127.0.0.1:7233.';
    expect(needs({}, { temporal: { problem } })).toEqual([problem]);
  });
});

describe('the table', () => {
  it('reports nothing on a healthy instance', () => {
    expect(statusTable({ database, temporal })).toBe(
      [
        'Database    PostgreSQL 18.4, 3.0 GiB',
        'Queue       empty',
        'Workflows   none to start',
        'Ordering    nothing waits',
        'Changes     none to pass on',
        'Open        none',
        'Overdue     no attempt',
        'Held        none',
        'Failing     no webhook',
        'Recoveries  none under way',
        'Mails       none to send',
        'Notices     none to send',
        'Partitions  up to 2026-12-28',
        'Temporal    127.0.0.1:7233, namespace default',
        'Workers     1 in the task queue deliveries: 1@host',
      ].join('\n'),
    );
  });

  it('reports everything on a busy instance', () => {
    const busy: Working = {
      ...database,
      bytes: 300 * 2 ** 20,
      outbox: {
        ...database.outbox,
        fresh: 12,
        recovered: 40,
        retry: 3,
        undelivered: 6,
        delivered: 800,
        withoutWorkflow: 70,
        blocked: 9,
        blockedRecords: 2,
        blockedSeconds: 7_500,
        oldestSeconds: 4.2,
        changes: 1,
        oldestChangeSeconds: 0.25,
      },
      failing: 2,
      open: { pending: 20, retrying: 7, held: 5, holdingWebhooks: 1 },
      mails: {
        pending: 1,
        deferred: 2,
        oldestSeconds: 90,
        oldestOf: tea,
        lastError: 'the mail server refused our user name and password (EAUTH, 535)',
        givenUp: 0,
        givenUpOf: null,
      },
      furtherNotices: {
        pending: 3,
        deferred: 0,
        oldestSeconds: 150,
        oldestOf: null,
        lastError: 'HTTP 503 from chat.example after 12 ms',
        givenUp: 1,
        givenUpOf: null,
      },
      recoveries: [
        {
          recoveryId: '01a205b3-d000-7000-8000-000000000000',
          eshopId: 1,
          webhookId: 7,
          state: 'running',
          reason: null,
          done: 900,
          failed: 2,
          superseded: 5,
          left: 98,
          estimatedEndAt: new Date('2026-11-22T15:30:10Z'),
        },
      ],
      partitions: { ...database.partitions, since: new Date('2026-10-19') },
    };
    expect(statusTable({ database: busy, temporal: { problem: 'It is unavailable.' } })).toBe(
      [
        'Database    PostgreSQL 18.4, 300 MiB',
        'Queue       12 fresh, 3 retries, 40 of recoveries, the oldest for 4.2 s',
        'Workflows   6 undelivered, 800 delivered to start; 70 delivered without one',
        'Ordering    9 waiting, of 2 records, the oldest for 2 h 5 min',
        'Changes     1 to pass on, the oldest for 250 ms',
        'Open        20 pending, 7 retrying',
        'Overdue     no attempt',
        'Held        5, to 1 webhook',
        'Failing     2 webhooks: waybill webhooks list --failing',
        'Recovery    01a205b3-d000-7000-8000-000000000000, webhook 7: running, 900 done, 2 failed, 5 superseded, 98 left, until about 2026-11-22 15:30Z',
        "Mails       1 to send, 2 deferred, beyond their e-shops' budgets, the oldest for 1 min 30 s, to e-shop 7 (Tea Ltd); the mail server refused our user name and password (EAUTH, 535)",
        'Notices     3 to send, 1 given up in the last day, the oldest for 2 min 30 s; HTTP 503 from chat.example after 12 ms',
        'Partitions  from 2026-10-19 to 2026-12-28',
        'Temporal    It is unavailable.',
      ].join('\n'),
    );
  });
});

it('slow readings of a status are cached for a while, failures are not', async () => {
  let reads = 0;
  const read = remembered(60_000, async () => {
    reads += 1;
    if (reads === 1) throw new Error('away');
    return reads;
  });
  await expect(read()).rejects.toThrow('away');
  expect([await read(), await read()]).toEqual([2, 2]);
});

it('values of several keys are remembered apart', async () => {
  const reads: string[] = [];
  const read = remembered(60_000, async (key: string) => reads.push(key), String);
  expect([await read('a'), await read('b'), await read('a')]).toEqual([1, 2, 1]);
});

it('the handbook explains each problem by its id', () => {
  const chapter = readFileSync(join(import.meta.dirname, '../../docs/handbook/daily-work.md'), 'utf8');
  const [, table = ''] = chapter.split('| `id` | when |');
  const explained = [...table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, ids = '']) =>
    ids.match(/\w+/g),
  );
  expect(explained.sort()).toEqual([...problemIds].sort());
});
