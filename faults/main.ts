/**
 * `npm run faults`: injects faults of every kind into a running Waybill, and compares the accepted changes with the
 * deliveries that arrived. Exits with 1 if anything was lost, stuck, wrong or late, or not played: docs/faults.md.
 *
 *     npm run faults -- --rounds 100 --seed monday
 *     npm run faults -- --only kill --rounds 10
 *     npm run faults -- --seed monday --round 17
 */
import { Command, Option } from 'commander';
import { positiveInteger, wholeNumber } from '../test/support/harness/options.ts';
import { type Setting, settings } from '../test/support/harness/settings.ts';
import { build } from '../test/support/programs/build.ts';
import { stopOnInterruption } from '../test/support/programs/stop-on-interruption.ts';
import { findPooler } from '../test/support/servers/pooler.ts';
import { groupNames } from './fault.ts';
import { defaultOrdered, type OrderedSize, orderedSize } from './ordered-size.ts';
import { type Round, roundOf, roundsOf, turnOf } from './plan.ts';
import { isClean, killedAtLine, resultTable, roundLines, writeTable } from './report.ts';
import type { Played } from './round.ts';
import { createRunner } from './runner.ts';
import { canMount } from './stack/disk.ts';
import { hasSettableClock } from './stack/postgres.ts';

interface Options {
  readonly rounds: number;
  readonly perGroup?: number;
  readonly seed: string;
  readonly round?: readonly number[];
  readonly only?: readonly string[];
  readonly brief: boolean;
  readonly runners: number;
  readonly grace: number;
  readonly ordered: OrderedSize;
  readonly kills: number;
  readonly workflows: Setting | 'turns';
  readonly built: boolean;
  readonly allowMissing: readonly string[];
  readonly json: boolean;
  readonly markdown?: string;
}

const options = new Command('faults')
  .description(
    'Injects faults into a running Waybill and checks that nothing accepted is lost, stuck, wrong or late.',
  )
  .option('--rounds <n>', 'how many rounds', positiveInteger, 30)
  .option(
    '--per-group <n>',
    'this many rounds of every group instead, or of those that --only names',
    positiveInteger,
  )
  .option('--seed <s>', 'seed of all random choices', String(Date.now() % 1_000_000))
  .addOption(
    new Option('--round <i...>', 'play only these rounds of the seed').argParser(
      (text, before: number[] = []) => [...before, wholeNumber(text)],
    ),
  )
  .option('--only <names...>', 'only rounds of these groups or faults')
  .option('--brief', "use each fault's fastest retry policy", false)
  .option('--runners <n>', 'stacks that play rounds side by side', positiveInteger, 1)
  .option('--grace <s>', 'how late an attempt may be beyond plan and outage, in seconds', wholeNumber, 5)
  .option(
    '--ordered <records>x<events>',
    'how many records change in a round of the group order, and how many events each has',
    orderedSize,
    defaultOrdered,
  )
  .option('--kills <n>', 'how many kills a round has that kills at every moment', positiveInteger, 12)
  .addOption(
    new Option('--workflows <setting>', 'WORKFLOWS setting under test; `turns` alternates')
      .choices([...settings, 'turns'])
      .default('turns'),
  )
  .addOption(
    new Option('--allow-missing <what...>', 'leave out rounds for which the machine lacks this')
      .choices(['pgbouncer', 'libfaketime', 'mount'])
      .default([]),
  )
  .option('--built', 'use the build in dist/ as it is, even if sources have changed since', false)
  .option('--json', 'the results as JSON instead of a table', false)
  .option('--markdown <file>', 'put the table between <!-- table --> and <!-- /table --> of this file')
  .parse()
  .opts<Options>();

function chosenRounds({ seed, round, rounds, perGroup, workflows, only, brief }: Options): Round[] {
  if (round !== undefined) {
    return round.map((index) => roundOf(seed, index, workflows === 'turns' ? 'all' : workflows, brief));
  }
  if (perGroup === undefined) return roundsOf(seed, rounds, workflows, only, brief);
  const turns = workflows === 'turns';
  const groups = groupNames.filter((group) => only?.includes(group) ?? true);
  if (groups.length < (only?.length ?? 1)) throw new Error('With --per-group, --only names groups.');
  return groups.flatMap((group, index) =>
    // One of each group: the groups take turns.
    roundsOf(seed, perGroup, turns && perGroup === 1 ? turnOf(index) : workflows, [group], brief),
  );
}

const say = (text: string) => console.error(text);
const shutdown = stopOnInterruption();
process.on('unhandledRejection', (error) => {
  // This includes errors of work under way when everything was stopped: no started process may be left.
  console.error(error);
  void shutdown.stop().finally(() => process.exit(1));
});

/** Takes one round after the other from the list. */
async function playAll(left: Round[], played: Played[]): Promise<void> {
  const { grace, ordered, kills } = options;
  const runner = createRunner(shutdown, { graceMs: grace * 1000, ordered, kills }, say);
  for (let round = left.shift(); round !== undefined; round = left.shift()) {
    const result = await runner.play(round);
    if (shutdown.signal.aborted) return;
    played.push(result);
    say(roundLines(result));
  }
}

/** What some faults need of the machine. */
const missing = [
  {
    name: 'pgbouncer',
    met: findPooler() !== undefined,
    needs: ({ fault }: Round) => fault.pooler !== undefined,
    why: 'PgBouncer is not installed',
  },
  {
    name: 'libfaketime',
    met: hasSettableClock(),
    needs: ({ fault }: Round) => fault.databaseClock === true,
    why: 'libfaketime is not installed',
  },
  {
    name: 'mount',
    met: await canMount(),
    needs: ({ fault }: Round) => 'embedded' in fault && fault.smallDisk === true,
    why: 'this user may mount no disk',
  },
].filter(({ met }) => !met);
const chosen = chosenRounds(options);
const playable = chosen.filter((round) => !missing.some(({ needs }) => needs(round)));
/** The rounds left out, as sentences. */
const leftOut = missing.flatMap(({ name, needs, why }) => {
  const groups = chosen.filter(needs).map(({ fault }) => fault.group);
  if (groups.length === 0) return [];
  return [{ name, text: `not played, since ${why}: ${groups.length} of ${[...new Set(groups)].join(', ')}` }];
});
const refused = leftOut.filter(({ name }) => !options.allowMissing.includes(name));
for (const { text } of leftOut) say(text);
// A worker restarts for each policy or setting, so rounds are grouped by these.
const byKind = new Map<string, Round[]>();
for (const round of playable) {
  const kind = `${round.workflows} ${round.fault.pooler ?? 'direct'} ${round.policy}`;
  byKind.set(kind, [...(byKind.get(kind) ?? []), round]);
}
const rounds = [...byKind.values()].flat();
const played: Played[] = [];
try {
  if (!options.built) {
    say('building Waybill …');
    await build();
  }
  say(`seed ${options.seed}, ${rounds.length} rounds`);
  await Promise.all(Array.from({ length: options.runners }, () => playAll(rounds, played)));
} finally {
  await shutdown.stop();
}
const killedAt = killedAtLine(played.map(({ verdict }) => verdict));
if (killedAt !== '') say(killedAt);
console.log(options.json ? JSON.stringify(played, null, 2) : resultTable(played));
if (options.markdown !== undefined) await writeTable(options.markdown, options.seed, played);
for (const { text } of leftOut) say(text);
for (const { name } of refused) say(`This fails the run: allow it with --allow-missing ${name}`);
// A socket cut by a fault may still be open: do not wait for it.
process.stdout.write('', () => process.exit(isClean(played) && refused.length === 0 ? 0 : 1));
