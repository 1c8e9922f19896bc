/**
 * The GitHub configuration, as far as it can be tested without GitHub.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { imageOf } from '../../release/owner.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const FOLDER = '.github/workflows/';
const files = readdirSync(new URL(`../../${FOLDER}`, import.meta.url));
const workflow = parse(read(`${FOLDER}ci.yml`));
const release = parse(read(`${FOLDER}release.yml`));
const { jobs } = workflow;

describe.each(files)('%s', (file) => {
  const text = read(`${FOLDER}${file}`);

  test('matches GitHub’s schema of workflows', () => {
    // The schema gives formats of strings, which are not checked, and unions of types.
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
    const validate = ajv.compile(JSON.parse(read('test/support/repository/github/workflow.schema.json')));
    validate(parse(text));
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ ...parse(text), jobs: { broken: { 'runs-on': 'ubuntu-24.04', step: [] } } })).toBe(
      false,
    );
  });

  test('pins GitHub’s actions by version, and others by commit', () => {
    const used = text.match(/uses: .+/g) ?? [];
    expect(used.length).toBeGreaterThan(0);
    for (const action of used)
      expect(action).toMatch(
        /^uses: (?:actions\/[\w-]+@v\d+\.\d+\.\d+|[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+)$/,
      );
  });

  test('keeps no credentials for what it runs', () => {
    const steps: { uses?: string; with?: object }[] = Object.values<{ steps: [] }>(parse(text).jobs).flatMap(
      (job) => job.steps,
    );
    const checkouts = steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
    for (const checkout of checkouts) expect(checkout.with).toMatchObject({ 'persist-credentials': false });
  });

  test('may only read the repository, unless a job says otherwise', () => {
    expect(parse(text).permissions).toEqual({ contents: 'read' });
  });
});

test('a change runs .ci/run on every supported Node.js, from the oldest on', () => {
  const { engines } = JSON.parse(read('package.json'));
  const oldest = String(engines.node).replace('>=', '');
  expect(jobs.ci.strategy.matrix.node).toEqual([`${oldest}.0`, '22', '24']);
  expect(jobs.ci.steps.at(-1)).toEqual({ run: '.ci/run' });
  expect(jobs.rounds.steps.at(-1)).toEqual({ run: '.ci/rounds' });
});

test('every step of .ci/nightly runs every night, on the recommended Node.js', () => {
  const nightly = parse(read(`${FOLDER}nightly.yml`));
  expect(nightly.on.schedule).toHaveLength(1);
  const { strategy, steps } = nightly.jobs.nightly;
  const named = [...read('.ci/nightly').matchAll(/^step ([\w-]+) /gm)].map(([, name]) => name);
  expect(named.shift()).toBe('install');
  expect(strategy.matrix.step).toEqual(named);
  expect(steps.at(-1).run).toMatch(/ \.ci\/nightly \$\{\{ matrix\.step \}\}$/);
  expect(steps).toContainEqual(expect.objectContaining({ with: { 'node-version': '22', cache: 'npm' } }));
});

test('a change runs without permissions of its own', () => {
  expect(Object.keys(jobs).flatMap((name) => Object.keys(jobs[name]))).not.toContain('permissions');
});

describe('a release', () => {
  const commands = (job: string) =>
    (release.jobs[job].steps as { run?: string }[]).flatMap(({ run }) => (run === undefined ? [] : [run]));

  test('is made by the script that can be tried before, without permission to publish', () => {
    expect(commands('make')).toContain('npm run release');
    expect(release.jobs.make.permissions).toBeUndefined();
  });

  test('publishes only what that job has made and tested, with its provenance', () => {
    for (const job of ['packages', 'image', 'documentation']) expect(release.jobs[job].needs).toBe('make');
    expect(commands('packages').join()).toMatch(/npm publish "\$archive" .*--provenance/);
    expect(commands('packages').join()).toMatch(/sha256sum --check/);
  });

  test('has an image for both platforms, with a bill of materials, provenance and signature', () => {
    const { steps } = release.jobs.image;
    const build = steps.find(({ id }: { id?: string }) => id === 'build');
    expect(build.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      sbom: true,
      provenance: 'mode=max',
    });
    const { run, env } = steps.at(-1);
    expect(run).toBe('cosign sign --yes "$IMAGE"');
    expect(env.IMAGE).toMatch(
      /^\$\{\{ steps\.tag\.outputs\.image \}\}@\$\{\{ steps\.build\.outputs\.digest \}\}$/,
    );
  });

  test('names its image as the compose files do, in lower case', async () => {
    const { run } = release.jobs.image.steps.find(({ id }: { id?: string }) => id === 'tag');
    const env = { GITHUB_REPOSITORY: 'Acme/Waybill', GITHUB_REF_NAME: 'v1.2.3', SUFFIX: '-try' };
    const script = run.replaceAll(' >> "$GITHUB_OUTPUT"', '');
    const image = imageOf({ repository: 'https://github.com/Acme/Waybill' });
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-ec', script], { env });
    expect(stdout).toBe(`image=${image}\nname=${image}:1.2.3-try\n`);
    expect(image).toBe('ghcr.io/acme/waybill');
  });
});
