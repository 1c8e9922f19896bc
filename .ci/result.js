/**
 * What a run came to: every failure with its first lines, then `N passed, N failed`. The fuzz counts as one test, and so
 * does each round of faults. Ends with 1 if anything failed.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const LINES = 12;
const [report, code, fuzz, rounds] = process.argv.slice(2);
const failures = [];
let passed = 0;

function fail(what, why = '') {
  failures.push([what, ...why.split('\n').slice(0, LINES)].join('\n    ').trimEnd());
}

function countTests() {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  for (const { name, status, message, assertionResults } of testResults) {
    const file = relative('', name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    passed += assertionResults.filter((test) => test.status === 'passed').length;
    for (const test of failed) fail(`${file}: ${test.fullName}`, test.failureMessages.join('\n'));
    // A file that cannot be loaded has no tests to count, and a hook that fails belongs to none.
    if (status === 'failed' && failed.length === 0) fail(file, message);
  }
  // An error outside the tests fails the run all the same.
  if (code !== '0' && failures.length === 0) fail(`npm test ended with ${code}`);
}

function countRounds() {
  for (const { round, verdict } of JSON.parse(readFileSync(rounds, 'utf8'))) {
    const broken = verdict.violations.map(({ kind, text }) => `${kind}: ${text}`);
    if (broken.length === 0) passed += 1;
    else fail(`npm run faults: ${round.fault.group}: ${round.fault.name}`, broken.join('\n'));
  }
}

for (const [step, count] of [
  ['npm test', countTests],
  ['npm run faults', countRounds],
]) {
  try {
    count();
  } catch (error) {
    fail(`${step} left no result: ${error.message}`);
  }
}
if (fuzz === '0') passed += 1;
else fail(`npm run fuzz ended with ${fuzz}`);

if (failures.length > 0) console.log(`\n== failed\n${failures.join('\n')}\n`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 && passed > 1 ? 0 : 1;
