/**
 * `npm run mutants`: puts defects into a copy of the repository, one by one. A survivor is a gap in the tests.
 *
 *     npm run mutants -- --only relay --only claims
 *     npm run mutants -- --faults
 */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { table } from '../test/support/harness/table.ts';
import { stopOnInterruption } from '../test/support/programs/stop-on-interruption.ts';
import { type Catchers, type Change, type Defect, problemsOf } from './defect.ts';
import { defects } from './defects.ts';
import { type FaultDefect, faultDefects } from './fault-defects.ts';
import { outcomeOfRounds, playFault } from './run-faults.ts';
import { runTests, type TestRun } from './run-tests.ts';
import { copyTree, type Tree } from './tree.ts';

interface Options {
  readonly only: readonly string[];
  readonly list: boolean;
  readonly faults: boolean;
}

interface Verdict {
  readonly defect: Defect;
  readonly runs: readonly TestRun[];
  readonly seconds: number;
}

/** Outcome of a defect. Only `caught` proves anything: a run that hangs may hang for another reason. */
const OUTCOMES = ['caught', 'SURVIVED', 'timed out', 'not tried'] as const;
type Outcome = (typeof OUTCOMES)[number];

const root = fileURLToPath(new URL('..', import.meta.url));
const say = (text: string) => console.error(text);

await new Command('mutants')
  .description('Tries one defect after the other and expects each of its named tests to fail.')
  .option('--only <name>', 'only defects whose name contains this; may be repeated', collect, [])
  .option('--faults', 'defects that the rounds of `npm run faults` have to catch, one for each group', false)
  .option('--list', 'list the defects and try none', false)
  .action(mutants)
  .parseAsync();

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

async function mutants({ only, list, faults }: Options): Promise<void> {
  const matches = ({ name }: Change) => only.length === 0 || only.some((part) => name.includes(part));
  const wanted = faults ? [] : defects.filter(matches);
  const wantedOfFaults = faults || list ? faultDefects.filter(matches) : [];
  const all = [...wanted, ...wantedOfFaults];
  if (all.length === 0) throw new Error(`No defect matches ${only.join(', ')}.`);
  const problems = await problemsOf(all, root);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  if (list)
    return console.log(
      table(
        ['defect', 'symptom'],
        all.map((defect) => [defect.name, defect.symptom]),
      ),
    );

  const shutdown = stopOnInterruption();
  const tree = await copyTree(root);
  await shutdown.add(tree.remove);
  try {
    if (faults) return await tryFaults(tree, wantedOfFaults);
    const failing = await failingAtBaseline(tree, wanted);
    const verdicts: Verdict[] = [];
    for (const defect of wanted) verdicts.push(await attempt(tree, defect, failing));
    console.log(table(['defect', 'caught by', 'seconds'], verdicts.map(row)));
    const found = verdicts.map(outcomeOf);
    const count = (outcome: Outcome) => `${found.filter((each) => each === outcome).length} ${outcome}`;
    console.log(`\n${found.length} tried: ${OUTCOMES.map(count).join(', ')}.`);
    process.exitCode = found.every((outcome) => outcome === 'caught') ? 0 : 1;
  } finally {
    await shutdown.stop();
  }
}

/** Plays the rounds that must show each defect. */
async function tryFaults(tree: Tree, wanted: readonly FaultDefect[]): Promise<void> {
  const rows: string[][] = [];
  for (const defect of wanted) {
    const played = await tree.withDefect(defect, () => playFault(tree.folder, defect.fault));
    const outcome = outcomeOfRounds(played);
    const [first = 'nothing', ...more] = outcome === 'not played' ? played.unplayed : played.findings;
    const found = `${first}${more.length > 0 ? `, and ${more.length} more` : ''}`;
    say(`${outcome}  ${defect.name}: ${found}`);
    rows.push([defect.group, defect.fault, defect.symptom, outcome, found]);
    if (outcome !== 'caught') process.exitCode = 1;
  }
  console.log(table(['group', 'fault', 'symptom', 'outcome', 'found by the checker'], rows));
}

/** The tests that fail without any defect: their failure would prove nothing. */
async function failingAtBaseline(tree: Tree, wanted: readonly Defect[]): Promise<TestRun[]> {
  const tests = new Map<string, Set<string>>();
  for (const { file, tests: names } of wanted.map(({ caughtBy }) => caughtBy))
    tests.set(file, new Set([...(tests.get(file) ?? []), ...names]));
  say(`At baseline, without a defect: ${tests.size} files …`);
  const all: Catchers[] = [...tests].map(([file, names]) => ({ file, tests: [...names] }));
  return (await runTests(tree.folder, all)).filter(({ outcome }) => outcome !== 'passed');
}

/** @param failing tests that fail at baseline: a defect that names one of them is not tried */
async function attempt(tree: Tree, defect: Defect, failing: readonly TestRun[]): Promise<Verdict> {
  const { caughtBy } = defect;
  const broken = failing.filter(({ file, test }) => caughtBy.file === file && caughtBy.tests.includes(test));
  if (broken.length > 0) {
    say(`not tried  ${defect.name}: fails at baseline`);
    for (const run of broken) say(`  ${line(run)}`);
    return { defect, runs: [], seconds: 0 };
  }
  const started = performance.now();
  const runs = await tree.withDefect(defect, () => runTests(tree.folder, [caughtBy]));
  const verdict = { defect, runs, seconds: (performance.now() - started) / 1_000 };
  say(`${outcomeOf(verdict)}  ${defect.name}  ${verdict.seconds.toFixed(0)} s`);
  for (const run of runs.filter(({ outcome }) => outcome !== 'failed')) say(`  ${line(run)}`);
  return verdict;
}

/** Every named test must fail: otherwise the table claims too much. */
function outcomeOf({ runs }: Verdict): Outcome {
  if (runs.length === 0) return 'not tried';
  if (runs.some(({ outcome }) => outcome === 'timed out')) return 'timed out';
  return runs.every(({ outcome }) => outcome === 'failed') ? 'caught' : 'SURVIVED';
}

function line({ file, test, outcome }: TestRun): string {
  return `${outcome}: ${file}: ${test}`;
}

function row(verdict: Verdict): string[] {
  const { name, caughtBy } = verdict.defect;
  const outcome = outcomeOf(verdict);
  return [name, outcome === 'caught' ? caughtBy.file : outcome, verdict.seconds.toFixed(0)];
}
