/**
 * The result of a run: every failure with its first lines, then `N passed, N failed`; exits with 1 if anything
 * failed. The argument is the folder of the tests' results: `tests.json` and `tests.code`. `again.json` is of the
 * failed files of `tests.json`, run once more: tests that passed then are listed as unsteady, and do not fail the run
 * unless they are in too many files. `.ci/nightly` runs nothing twice: there they fail.
 * `--failed-files` prints the paths of failed files instead.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const LINES = 12;
/** The most files with unsteady tests. Too low: one busy moment fails a run. Too high: a rare defect passes. */
const MAX_UNSTEADY_FILES = 2;
const [folder, option] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, name), 'utf8').trim();
const resultsOf = (name) => JSON.parse(read(`${name}.json`)).testResults;
const failures = [];
/** Tests that failed beside the others, and passed on their own; and their files. */
const unsteady = [];
const unsteadyFiles = new Set();
let passed = 0;

function passedOnItsOwn(what, file) {
  unsteady.push(what);
  unsteadyFiles.add(file);
}

function fail(what, why = '') {
  failures.push([what, ...why.split('\n').slice(0, LINES)].join('\n    ').trimEnd());
}

function countTests() {
  const again = passedAgain();
  for (const { name: path, status, message, assertionResults } of resultsOf('tests')) {
    const file = relative('', path);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    passed += assertionResults.filter((test) => test.status === 'passed').length;
    for (const test of failed) {
      const what = `${file}: ${test.fullName}`;
      if (again.get(path)?.passed.has(test.fullName)) passedOnItsOwn(what, file);
      else fail(what, test.failureMessages.join('\n'));
    }
    // A file that cannot be loaded has no tests to count, and a failing hook belongs to none.
    if (status === 'failed' && failed.length === 0) {
      if (again.get(path)?.wholly) passedOnItsOwn(file, file);
      else fail(file, message);
    }
  }
  const code = read('tests.code');
  // An error outside the tests also fails the run.
  if (code !== '0' && failures.length + unsteady.length === 0) fail(`npm test ended with ${code}`);
}

/** What passed when failed files ran once more, by path. */
function passedAgain() {
  const files = existsSync(join(folder, 'again.json')) ? resultsOf('again') : [];
  return new Map(
    files.map(({ name, status, assertionResults }) => {
      const passed = assertionResults.filter((test) => test.status === 'passed');
      return [name, { wholly: status === 'passed', passed: new Set(passed.map((test) => test.fullName)) }];
    }),
  );
}

if (option === '--failed-files') {
  for (const { name, status } of resultsOf('tests')) if (status === 'failed') console.log(relative('', name));
  process.exit();
}

try {
  countTests();
} catch (error) {
  fail(`npm test left no result: ${error.message}`);
}

passed += unsteady.length;
if (unsteadyFiles.size > MAX_UNSTEADY_FILES)
  fail(`${unsteadyFiles.size} files have unsteady tests, and at most ${MAX_UNSTEADY_FILES} may`);
if (unsteady.length > 0)
  console.log(`\n== unsteady: failed once, and passed on their own\n${unsteady.join('\n')}`);
if (failures.length > 0) console.log(`\n== failed\n${failures.join('\n')}\n`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 && passed > 1 ? 0 : 1;
