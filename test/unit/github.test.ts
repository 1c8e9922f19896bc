/**
 * The GitHub configuration, as far as it can be tested without GitHub.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const workflow = parse(read('.github/workflows/ci.yml'));
const { jobs } = workflow;

test('a change is tried with .ci/run on the oldest Node.js that is supported, and on the newest', () => {
  const { engines } = JSON.parse(read('package.json'));
  const oldest = String(engines.node).replace('>=', '');
  expect(jobs.ci.strategy.matrix.node).toEqual([`${oldest}.0`, '24']);
  expect(jobs.ci.steps.at(-1)).toEqual({ run: '.ci/run' });
});

test('it may read the repository and nothing else, and keeps no credentials for what it runs', () => {
  expect(workflow.permissions).toEqual({ contents: 'read' });
  expect(Object.keys(jobs).flatMap((name) => Object.keys(jobs[name]))).not.toContain('permissions');
  expect(jobs.ci.steps[0].with).toEqual({ 'persist-credentials': false });
});

test('actions are pinned by version', () => {
  const used = read('.github/workflows/ci.yml').match(/uses: \S+/g) ?? [];
  expect(used.length).toBeGreaterThan(0);
  for (const action of used) expect(action).toMatch(/^uses: actions\/[\w-]+@v\d+\.\d+\.\d+$/);
});

test('updates are proposed for packages, actions and images', () => {
  const { updates } = parse(read('.github/dependabot.yml'));
  const ecosystems = updates.map((update: { 'package-ecosystem': string }) => update['package-ecosystem']);
  expect(ecosystems).toEqual(['npm', 'github-actions', 'docker', 'docker-compose']);
});
