/**
 * `waybill demo` as a user runs it, against a real instance.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { scenes } from '../../demo/scenes.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { login } from '../support/api/client.ts';
import { installationOfFile, programOfFile, receiverOfTest } from '../support/lifetimes.ts';
import { builtCli } from '../support/programs/built.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import { nightly } from '../support/runner/nightly.ts';
import { until } from '../support/until.ts';

const installation = await installationOfFile();
const program = await programOfFile(installation.env);
const shop = await login(program.url, installation.credentials);
const credentialsFile = join(installation.env.DATA_DIR, 'eshop.json');
await writeFile(credentialsFile, JSON.stringify(installation.credentials));
const wrongFile = join(installation.env.DATA_DIR, 'wrong.json');
await writeFile(wrongFile, JSON.stringify({ ...installation.credentials, password: 'x' }));

afterEach(async () => {
  for (const { id } of await webhooks()) await shop.request('DELETE', `/webhooks/${id}`);
});

/** Progress without a terminal. */
const LINES = /^(?: *\d+\/\d+ {2}.+\n)+/;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const target = () => ['--url', program.url, '--credentials', credentialsFile];

/** Starts the demonstration as the installation's e-shop. */
function start(...more: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(
    process.execPath,
    [builtCli, 'demo', ...target(), '--orders', '2', '--rate', '200', ...more],
    {
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, stdout, stderr }));
  return { child, ended };
}
const demo = (...more: readonly string[]) => start(...more).ended;
const cleaned = async () => {
  const { code, printed } = await triedWaybill(['demo', ...target(), '--clean', '--json'], {});
  expect(code).toBe(0);
  return JSON.parse(printed);
};
const webhooks = async () => (await shop.request('GET', '/webhooks')).data;

/** The number of events of each type in the database. */
async function eventCounts(): Promise<Map<string, number>> {
  const rows = await installation.sql<{ type: string; count: number }[]>`
    select type, count(*)::int as count from events where eshop_id = ${installation.credentials.eshopId} group by type`;
  return new Map(rows.map(({ type, count }) => [type, count]));
}

interface Scene {
  readonly scene: string;
  readonly webhookId: number;
  readonly delivered: number;
  readonly failed: number;
  readonly held: number;
}

/** A demonstration with its own receiver leaves every kind of trouble to look at, and nothing that still runs. */
async function expectAllToLookAt(scenes: readonly Scene[]): Promise<void> {
  const left = await webhooks();
  expect(left).toHaveLength(1 + scenes.length);
  expect(left.filter(({ active }: { active: boolean }) => active)).toEqual([]);
  const of = (name: string) => {
    const found = scenes.find(({ scene }) => scene === name);
    if (found === undefined) throw new Error(`no scene ${name}`);
    return found;
  };
  const deliveries = async (name: string) =>
    (await shop.request('GET', `/webhooks/${of(name).webhookId}/deliveries`)).data;

  expect(of('down')).toMatchObject({ failed: 0, held: 0 });
  expect(of('down').delivered).toBeGreaterThan(0);
  for (const { attemptsMade } of await deliveries('down')) expect(attemptsMade).toBe(3);
  expect(of('slow')).toMatchObject({ failed: 0, held: 0 });
  expect(of('slow').delivered).toBeGreaterThan(0);
  expect(of('missed')).toMatchObject({ failed: 0, held: 0 });
  expect(of('missed').delivered).toBeGreaterThan(0);
  expect(of('waiting')).toMatchObject({ delivered: 0, failed: 0 });
  expect(of('waiting').held).toBeGreaterThan(0);

  // Deactivated by its response, not at the end: only this deactivation is mailed.
  expect(of('gone').failed).toBeGreaterThan(0);
  expect(of('gone')).toMatchObject({ delivered: 0, held: 0 });
  const gone = left.find(({ id }: { id: number }) => id === of('gone').webhookId);
  expect(gone.unregisteredAt).not.toBeNull();
  const mailed = () => installation.sql<{ webhookId: number; outcome: string | null }[]>`
    select webhook_id as "webhookId", outcome from notices where kind = 'deactivated' and recipient = 'email'`;
  await until('its e-mail', async () => (await mailed()).every(({ outcome }) => outcome === 'sent'));
  expect((await mailed()).map(({ webhookId }) => webhookId)).toEqual([of('gone').webhookId]);

  const open = await installation.sql`
    select webhook_id from deliveries
    where state not in ('delivered', 'failed', 'canceled') and webhook_id <> ${of('waiting').webhookId}`;
  expect(open).toHaveLength(0);
}

describe('waybill demo', () => {
  /** The events of each type on the day of the seed `again`. */
  let dayAgain: [string, number][] = [];

  it('--receive fires every kind as often as it says, and delivers each with a valid signature', async () => {
    const before = await eventCounts();
    const { code, stdout, stderr } = await demo('--receive', '--json', '--seed', 'again');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const summary = JSON.parse(stdout);
    expect(summary.kinds.map(({ kind }: { kind: string }) => kind)).toEqual(eventTypeNames);
    for (const { kind, fired, delivered } of summary.kinds) {
      expect(fired, kind).toBeGreaterThan(0);
      expect(delivered, kind).toBe(fired);
    }
    expect(summary).toMatchObject({
      badSignatures: 0,
      requests: expect.any(Number),
      seed: expect.any(String),
    });
    const after = await eventCounts();
    dayAgain = summary.kinds.map(({ kind, fired }: { kind: string; fired: number }) => [kind, fired]);
    expect(dayAgain).toEqual(
      eventTypeNames.map((kind) => [kind, (after.get(kind) ?? 0) - (before.get(kind) ?? 0)]),
    );
    await expectAllToLookAt(summary.scenes);

    const removed = (await webhooks()).length;
    expect(await cleaned()).toEqual({ removed });
    expect(await webhooks()).toEqual([]);
    expect(await cleaned()).toEqual({ removed: 0 });
  });

  it('--webhooks uses one webhook at a given receiver, and --seed repeats the day', async () => {
    const receiver = await receiverOfTest();
    const { code, stdout, stderr } = await demo(
      '--webhooks',
      `${receiver.url}/in/`,
      '--keep-webhooks',
      '--seed',
      'again',
    );
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(new RegExp(`${LINES.source}$`)),
    });
    const rows = stdout.split('\n').flatMap((line) => {
      const [, kind, fired, delivered] = /^([A-Z_]+) +(\d+) +(\d+)$/.exec(line) ?? [];
      return kind === undefined ? [] : [[kind, Number(fired), Number(delivered)]];
    });
    expect(rows).toEqual(dayAgain.map(([kind, fired]) => [kind, fired, fired]));
    expect(stdout).toContain('--seed again repeats the day.');
    expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/in/all']));
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-service-event']))).toEqual(
      new Set(eventTypeNames),
    );
    const [kept, ...others] = await webhooks();
    expect(others).toEqual([]);
    expect([kept.webhookType, ...kept.additionalTypes]).toEqual(eventTypeNames);
  });

  it.runIf(nightly)('--receive says that the e-shop’s own webhooks get the events as well', async () => {
    const receiver = await receiverOfTest();
    const own = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
    await shop.request('POST', '/webhooks', own);
    await shop.request('POST', '/webhooks', { ...own, active: false });
    const { code, stdout, stderr } = await demo('--receive');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(new RegExp(`${LINES.source}$`)),
    });
    expect(stdout).toContain(`The demonstration's ${1 + scenes.length} webhooks are inactive now`);
    expect(stdout).toContain("\nThe e-shop's other active webhook got the demonstration's events as well.\n");
    await receiver.waitFor(1);
  });

  it('Ctrl-C leaves no webhook behind, and the exit code says so', async () => {
    const { child, ended } = start('--receive', '--orders', '50', '--rate', '20');
    await until('its webhooks', async () => (await webhooks()).length === 1 + scenes.length);
    const before = (await eventCounts()).get('CREATE_PRODUCT');
    await until('its products', async () => (await eventCounts()).get('CREATE_PRODUCT') !== before);
    child.kill('SIGINT');
    const { stderr, ...rest } = await ended;
    expect(rest).toEqual({ code: 130, stdout: '' });
    expect(stderr.replace(LINES, '')).toBe('Stopped.\n');
    expect(await webhooks()).toEqual([]);
  });

  it.each<[string, string[], RegExp]>([
    ['a wrong password', ['--credentials', wrongFile], /^POST \/v21\/users\/login: 401 The API key, .+\.$/],
    [
      'a missing instance',
      ['--url', 'http://127.0.0.1:1'],
      /^No Waybill instance is running at http:\/\/127\.0\.0\.1:1: .+\.$/,
    ],
    [
      'two receivers',
      ['--receive', '--webhooks', 'http://a.example'],
      /^--receive and --webhooks cannot be combined: .+\.$/,
    ],
    ['a day with --clean', ['--clean', '--receive'], /^--clean plays no day: .+\.$/],
    [
      'a file of another kind',
      ['--credentials', builtCli],
      /is not what waybill eshop create --json prints\.$/,
    ],
    ['a receiver without a scheme', ['--webhooks', 'shop.example'], /^--webhooks must be a URL .+\.$/],
  ])('%s is reported in one sentence, with code 1', async (_, args, message) => {
    const { error, code, printed } = await triedWaybill(['demo', ...target(), ...args], {});
    expect(error?.trim()).toMatch(message);
    expect(error?.trim().split('\n')).toHaveLength(1);
    expect({ code, printed }).toEqual({ code: 1, printed: '' });
  });
});

it('a missing DATA_DIR is reported with what to set', async () => {
  const { error, code } = await triedWaybill(['demo'], {});
  expect(error).toMatch(
    /^There is no demonstration e-shop in DATA_DIR=.+: set DATA_DIR to that of the running instance, or give --credentials\.$/,
  );
  expect(code).toBe(1);
});

describe('waybill measure', () => {
  it('counts changes and arrivals, and leaves no webhook behind', async () => {
    const { code, printed } = await triedWaybill(
      ['measure', ...target(), '--rate', '20', '--seconds', '1', '--json'],
      {},
    );
    expect(JSON.parse(printed)).toMatchObject({ requests: 20, refused: 0, reason: null, delivered: 20 });
    expect(JSON.parse(printed).deliveries.p99).toBeGreaterThanOrEqual(JSON.parse(printed).deliveries.p50);
    expect(code).toBe(0);
    expect(await webhooks()).toEqual([]);
  });
});
