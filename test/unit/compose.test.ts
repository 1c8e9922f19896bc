/** The compose file and the Dockerfile, as far as they can be checked without running them. */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { variables } from '../../src/config/variables.ts';
import { DYNAMIC_CONFIG } from '../../src/embedded/dynamic-config.ts';
import { atLeast } from '../../src/embedded/temporal-cli/program.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const conditions = v.picklist(['service_started', 'service_healthy', 'service_completed_successfully']);
const serviceSchema = v.strictObject({
  image: v.string(),
  build: v.optional(v.string()),
  restart: v.optional(v.pipe(v.string(), v.regex(/^(no|always|on-failure(:\d+)?|unless-stopped)$/))),
  stop_grace_period: v.optional(v.pipe(v.string(), v.regex(/^\d+s$/))),
  depends_on: v.optional(v.record(v.string(), v.strictObject({ condition: conditions }))),
  command: v.optional(v.array(v.string())),
  environment: v.optional(v.record(v.string(), v.string())),
  ports: v.optional(v.array(v.pipe(v.string(), v.regex(/^[\d.]+:\d+:\d+$/)))),
  volumes: v.optional(v.array(v.string())),
  read_only: v.optional(v.boolean()),
  tmpfs: v.optional(v.array(v.string())),
  cap_drop: v.optional(v.array(v.string())),
  security_opt: v.optional(v.array(v.string())),
  healthcheck: v.optional(
    v.strictObject({
      test: v.array(v.string()),
      interval: v.string(),
      timeout: v.string(),
      retries: v.number(),
    }),
  ),
});
const compose = v.parse(
  v.looseObject({ services: v.record(v.string(), serviceSchema), volumes: v.record(v.string(), v.null()) }),
  parse(read('docker-compose.temporal.yml'), { merge: true }),
);
const services = Object.entries(compose.services);
const ours = services.filter(([, service]) => service.build !== undefined);

/** Compose's values for `${NAME:-default}` and `${NAME:?message}` if only the required variables are set. */
function substituted(text: string): string {
  return text
    .replaceAll(/\$\{SECRET_KEY:\?[^}]*\}/g, Buffer.alloc(32, 1).toString('base64'))
    .replaceAll(/\$\{POSTGRES_PASSWORD:\?[^}]*\}/g, 'chosen')
    .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
}

describe('every image is pinned to a version', () => {
  const images = [
    ...services.map(([, service]) => service.image),
    ...[...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image ?? ''),
  ];
  it.each(images)('%s', (image) => {
    expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+(\.\d+)?(-[\w.]+)*$/);
  });
});

it('no password has a default', () => {
  const text = read('docker-compose.temporal.yml');
  const confidential = [...text.matchAll(/\$\{(\w*(?:PASSWORD|PWD|SECRET|KEY)\w*)(:?[-?]?)/g)];
  expect(confidential.length).toBeGreaterThan(2);
  for (const [use, , operator] of confidential) expect(operator, use).toBe(':?');
  // Nor is a password written out.
  expect(text).not.toMatch(/^\s*\w*(PASSWORD|PWD|SECRET_KEY): *[^\s$]/m);
  expect(text).not.toMatch(/\/\/\w+:[^$@\s]+@/);
});

it('our image does not run as root', () => {
  const [last = ''] = read('Dockerfile')
    .split(/^FROM /m)
    .slice(-1);
  expect(last).toMatch(/^USER node$/m);
});

it('the Dockerfile uses glibc', () => {
  expect(read('Dockerfile')).not.toContain('alpine');
});

it('the image has the version of package.json', () => {
  const { version } = JSON.parse(read('package.json'));
  for (const [, { image }] of ours) expect(image).toBe(`waybill:${version}`);
});

describe.each(ours)('the service %s', (_, service) => {
  const environment = Object.fromEntries(
    Object.entries(service.environment ?? {}).map(([name, value]) => [name, substituted(value)]),
  );

  it('sets only variables that the program knows', () => {
    expect(Object.keys(variables.entries)).toEqual(expect.arrayContaining(Object.keys(environment)));
  });

  it('is a configuration that the program accepts', () => {
    expect(loadConfig(environment).unconfigured).toBe(false);
  });

  it('may write to the folder of the image alone, and become nobody else', () => {
    const [, dataDir] = /DATA_DIR=(\S+)/.exec(read('Dockerfile')) ?? [];
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service.tmpfs?.map((mount) => mount.split(':')[0])).toEqual([dataDir]);
  });

  it('has more time to stop than an attempt takes', () => {
    const grace = Number.parseInt(service.stop_grace_period ?? '0', 10) * 1_000;
    expect(grace).toBeGreaterThan(2 * loadConfig(environment).retryPolicy.attemptTimeoutMs);
  });
});

describe.each(services)('the parts of %s', (name, service) => {
  it('waits only for services there are, and for the healthy only where there is a check', () => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(compose.services).toHaveProperty(other);
      if (condition === 'service_healthy') expect(compose.services[other]?.healthcheck).toBeDefined();
    }
  });

  it('waits with `--wait` for what ends by itself: something that stays needs it', () => {
    // Compose treats the exit of a container as a failure unless another service waits for exactly that.
    if (service.restart === 'unless-stopped') return;
    const waiting = services.filter(
      ([, { depends_on, restart }]) =>
        restart === 'unless-stopped' && depends_on?.[name]?.condition === 'service_completed_successfully',
    );
    expect(waiting).not.toEqual([]);
  });

  it('opens ports on this machine only', () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });
});

describe('Temporal', () => {
  const { postgres, temporal, 'temporal-ui': ui } = compose.services;
  const setting = (name: string) => Number(temporal?.environment?.[name]);

  it('is the server itself, with the tools of the same version', () => {
    const images = services.map(([, { image }]) => image).filter((image) => image.startsWith('temporalio/'));
    const [, version = ''] = /^temporalio\/server:(.+)$/.exec(temporal?.image ?? '') ?? [];
    const tools = `temporalio/admin-tools:${version}`;
    expect(images.sort()).toEqual([tools, tools, `temporalio/server:${version}`, ui?.image]);
  });

  it('has enough shards for writes at the same time', () => {
    expect(setting('NUM_HISTORY_SHARDS')).toBe(512);
  });

  it('leaves Waybill enough connections to Postgres', () => {
    const services = 4;
    const temporals = services * (setting('SQL_MAX_CONNS') + setting('SQL_VIS_MAX_CONNS'));
    const [, most] = /max_connections=(\d+)/.exec(postgres?.command?.join(' ') ?? '') ?? [];
    expect(Number(most) - temporals).toBeGreaterThanOrEqual(150);
  });

  it('is set as the embedded server is', () => {
    const file = '/etc/temporal/dynamic-config.yaml';
    expect(temporal?.environment?.DYNAMIC_CONFIG_FILE_PATH).toBe(file);
    expect(temporal?.volumes).toEqual([`./temporal-dynamic-config.yaml:${file}:ro`]);
    const values = Object.entries(DYNAMIC_CONFIG).map(([key, value]) => [key, [{ value }]]);
    expect(parse(read('temporal-dynamic-config.yaml'))).toEqual(Object.fromEntries(values));
  });

  it('has a UI in which activities can be paused and reset', () => {
    expect(atLeast(ui?.image.split(':')[1] ?? '', '2.47.0')).toBe(true);
  });
});
