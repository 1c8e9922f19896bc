/** The compose files and the Dockerfile, as far as they can be checked without running them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { withSecretFiles } from '../../src/config/secret-files.ts';
import { variables } from '../../src/config/variables.ts';
import { DYNAMIC_CONFIG } from '../../src/embedded/temporal.ts';
import { atLeast } from '../../src/embedded/temporal-cli/program.ts';
import { folderOfTest } from '../support/ends.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const conditions = v.picklist(['service_started', 'service_healthy', 'service_completed_successfully']);
const serviceSchema = v.strictObject({
  image: v.string(),
  // Without a limit, the log of a container fills the disk.
  logging: v.strictObject({
    driver: v.literal('local'),
    options: v.strictObject({ 'max-size': v.string(), 'max-file': v.string() }),
  }),
  build: v.optional(v.string()),
  restart: v.optional(v.pipe(v.string(), v.regex(/^(no|always|on-failure(:\d+)?|unless-stopped)$/))),
  stop_grace_period: v.optional(v.pipe(v.string(), v.regex(/^\d+s$/))),
  depends_on: v.optional(v.record(v.string(), v.strictObject({ condition: conditions }))),
  network_mode: v.optional(v.literal('none')),
  entrypoint: v.optional(v.array(v.string())),
  command: v.optional(v.array(v.string())),
  // Null: passed on from the environment of Compose, if it is set there.
  environment: v.optional(v.record(v.string(), v.nullable(v.string()))),
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
function composeOf(file: string) {
  return v.parse(
    v.looseObject({ services: v.record(v.string(), serviceSchema), volumes: v.record(v.string(), v.null()) }),
    parse(read(file), { merge: true }),
  );
}

/** One with secrets of its own, and one that takes them from the environment. */
const [ONE_MACHINE, APART] = ['compose.yml', 'docker-compose.temporal.yml'] as const;
const files = [ONE_MACHINE, APART];

/** Compose's values for `${NAME:-default}` and `${NAME:?message}` if only the required variables are set. */
function substituted(text: string): string {
  return text
    .replaceAll(/\$\{SECRET_KEY:\?[^}]*\}/g, Buffer.alloc(32, 1).toString('base64'))
    .replaceAll(/\$\{POSTGRES_PASSWORD:\?[^}]*\}/g, 'chosen')
    .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
}

const IMAGE = /^[\w./-]+:v?\d+\.\d+(\.\d+)?(-[\w.]+)*$/;

describe('the Dockerfile', () => {
  const stages = read('Dockerfile')
    .split(/^FROM /m)
    .slice(1);

  it('pins every image to a version, with glibc', () => {
    const names = stages.map((stage) => / AS (\w+)/.exec(stage)?.[1]);
    const images = stages.map((stage) => stage.split(' ')[0] ?? '').filter((from) => !names.includes(from));
    expect(images.length).toBeGreaterThan(1);
    for (const image of images) expect(image).toMatch(IMAGE);
    expect(images.join()).not.toContain('alpine');
  });

  it('does not run as root, and checks its health in every role', () => {
    const base = stages.find((stage) => stage.includes(' AS base\n'));
    expect(base).toMatch(/^USER node$/m);
    expect(base).toMatch(/^HEALTHCHECK .*\n.*METRICS_PORT \?\? 9464\}\/readyz/m);
    expect(stages.at(-2)).not.toMatch(/^USER/m);
  });
});

it('no password in the compose files has a default', () => {
  for (const file of files) {
    const text = read(file);
    const confidential = [...text.matchAll(/\$\{(\w*(?:PASSWORD|PWD|SECRET|KEY)\w*)(:?[-?]?)/g)];
    for (const [use, , operator] of confidential) expect(operator, use).toBe(':?');
    expect(confidential.length > 0, file).toBe(file === APART);
    // Nor is a password written out.
    expect(text).not.toMatch(/^\s*\w*(PASSWORD|PWD|SECRET_KEY): *[^\s$]/m);
    expect(text).not.toMatch(/\/\/\w+:[^$%@\s]+@/);
  }
});

it('both files have the same parts, versions and Temporal settings, and their own volumes', () => {
  const [one, apart] = [composeOf(ONE_MACHINE), composeOf(APART)];
  const shared = Object.keys(apart.services).filter((name) => name in one.services);
  expect(shared).toEqual([
    'postgres',
    'temporal-schema',
    'temporal',
    'temporal-namespace',
    'temporal-ui',
    'mailpit',
  ]);
  for (const name of shared) {
    const [mine, others] = [one.services[name], apart.services[name]];
    expect(mine?.image).toBe(others?.image);
    const differing = Object.entries({ ...mine?.environment, ...others?.environment })
      .map(([variable]) => variable)
      .filter((variable) => mine?.environment?.[variable] !== others?.environment?.[variable]);
    for (const variable of differing) expect(variable).toMatch(/PASSWORD|PWD/);
  }
  expect(one.name).toMatch(/./);
  expect(apart.name).toBeUndefined();
});

it('both files pass on the other master key during a replacement', () => {
  for (const file of [ONE_MACHINE, APART]) {
    const keyed = Object.values(composeOf(file).services).filter(({ environment = {} }) =>
      Object.keys(environment).some((name) => /^SECRET_KEY(?:_FILE)?$/.test(name)),
    );
    expect(keyed.length).toBeGreaterThan(0);
    for (const { environment } of keyed) expect(environment).toHaveProperty('SECRET_KEY_PREVIOUS', null);
  }
});

describe('the secrets of compose.yml', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await folderOfTest('waybill-secrets-');
  });

  /** Runs the service's script as Compose does, on folders in the place of its volumes. */
  async function start(): Promise<Record<'secret-key' | 'password' | 'url', string>> {
    const { entrypoint = [], command = [], volumes = [] } = composeOf(ONE_MACHINE).services.secrets ?? {};
    for (const volume of volumes)
      await mkdir(join(directory, volume.split(':')[1] ?? ''), { recursive: true });
    const [program = '', ...options] = entrypoint;
    const script = command.map((text) => text.replaceAll('$$', '$').replaceAll('/run/', `${directory}/run/`));
    await promisify(execFile)(program, [...options, ...script]);
    const inVolume = (path: string) => readFile(join(directory, 'run', path), 'utf8');
    return {
      'secret-key': await inVolume('key/secret-key'),
      password: await inVolume('password/password'),
      url: await inVolume('password/url'),
    };
  }

  it('are made at the first start, kept later, and different elsewhere', async () => {
    const first = await start();
    expect(await start()).toEqual(first);
    // Stopped halfway.
    await rm(join(directory, 'run/password/url'));
    await writeFile(join(directory, 'run/password/url.new'), 'postgres://half');
    expect(await start()).toEqual(first);
    await rm(directory, { recursive: true });
    const second = await start();
    for (const name of ['secret-key', 'password', 'url'] as const) expect(second[name]).not.toBe(first[name]);
  });

  it('are a valid configuration, in which the database has the password of Postgres', async () => {
    const { password } = await start();
    const { environment = {} } = composeOf(ONE_MACHINE).services.waybill ?? {};
    const env = Object.fromEntries(
      Object.entries(environment).flatMap(([name, value]) =>
        value === null ? [] : [[name, substituted(value).replace(/^\/run\//, `${directory}/run/`)]],
      ),
    );
    const { settings, unconfigured } = loadConfig(withSecretFiles(env));
    expect(unconfigured).toBe(false);
    expect(settings.DATABASE_URL).toBe(`postgres://waybill:${password}@postgres:5432/waybill`);
    expect(password).toMatch(/^[0-9a-f]{48}$/);
    const { environment: postgres } = composeOf(ONE_MACHINE).services.postgres ?? {};
    expect(postgres?.POSTGRES_PASSWORD_FILE).toBe('/run/password/password');
  });

  it('are readable only where they are used', () => {
    const { services } = composeOf(ONE_MACHINE);
    for (const [name, { volumes = [] }] of Object.entries(services)) {
      if (name === 'secrets') continue;
      const mounted = volumes.filter((volume) => /^(key|password):/.test(volume));
      for (const volume of mounted) expect(volume).toMatch(/:ro$/);
      expect(mounted.some((volume) => volume.startsWith('key:'))).toBe(name === 'waybill');
    }
  });
});

describe.each(files)('%s', (file) => {
  const compose = composeOf(file);
  const services = Object.entries(compose.services);
  const own = services.filter(([, service]) => service.build !== undefined);

  it.each(services.map(([, { image }]) => image))('%s is pinned to a version', (image) => {
    expect(image).toMatch(IMAGE);
  });

  describe.each(own)('the service %s', (_, service) => {
    const environment = Object.fromEntries(
      Object.entries(service.environment ?? {})
        .flatMap(([name, value]) => (value === null ? [] : [[name, substituted(value)] as const]))
        .filter(([name]) => !name.endsWith('_FILE')),
    );
    const withSecrets = {
      SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
      DATABASE_URL: 'postgres://waybill:chosen@postgres:5432/waybill',
      ...environment,
    };

    it('sets only known variables', () => {
      const names = Object.keys(service.environment ?? {}).map((name) => name.replace(/_FILE$/, ''));
      expect(Object.keys(variables.entries)).toEqual(expect.arrayContaining(names));
    });

    it('takes address, proxy, retention and namespace from the environment of Compose', () => {
      expect(service.environment).toMatchObject({ PUBLIC_URL: null, TRUST_PROXY: null, RETENTION: null });
      expect(service.environment?.TEMPORAL_NAMESPACE).toMatch(/^\$\{TEMPORAL_NAMESPACE:-default\}$/);
    });

    it('sends mails through the configured mail server', () => {
      if (service.environment?.ROLE === 'api') return;
      expect(service.environment?.SMTP_URL).toMatch(/^\$\{SMTP_URL:-smtp:/);
      expect(service.environment?.MAIL_FROM).toMatch(/^\$\{MAIL_FROM:-/);
    });

    it('has a valid configuration', () => {
      expect(loadConfig(withSecrets).unconfigured).toBe(false);
    });

    it('may write only to the folder of the image, and gain no privileges', () => {
      const [, dataDir] = /DATA_DIR=(\S+)/.exec(read('Dockerfile')) ?? [];
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      expect(service.tmpfs?.map((mount) => mount.split(':')[0])).toEqual([dataDir]);
    });

    it('has enough time to stop', () => {
      const grace = Number.parseInt(service.stop_grace_period ?? '0', 10) * 1_000;
      expect(grace).toBeGreaterThanOrEqual(loadConfig(withSecrets).shutdownGraceMs + 5_000);
    });
  });

  describe.each(services)('the part %s', (name, service) => {
    it('waits only for existing services, and for healthy ones only if there is a check', () => {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect(compose.services).toHaveProperty(other);
        if (condition === 'service_healthy') expect(compose.services[other]?.healthcheck).toBeDefined();
      }
    });

    it('is required by a lasting service if it ends by itself, so that `--wait` works', () => {
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

    it('is the server itself, with tools of the same version', () => {
      const images = services
        .map(([, { image }]) => image)
        .filter((image) => image.startsWith('temporalio/'));
      const [, version = ''] = /^temporalio\/server:(.+)$/.exec(temporal?.image ?? '') ?? [];
      const tools = `temporalio/admin-tools:${version}`;
      expect(images.sort()).toEqual([tools, tools, `temporalio/server:${version}`, ui?.image]);
    });

    it('leaves Waybill enough connections to Postgres', () => {
      const services = 4;
      const temporals = services * (setting('SQL_MAX_CONNS') + setting('SQL_VIS_MAX_CONNS'));
      const [, most] = /max_connections=(\d+)/.exec(postgres?.command?.join(' ') ?? '') ?? [];
      expect(Number(most) - temporals).toBeGreaterThanOrEqual(150);
    });

    it('Temporal is configured like the embedded server', () => {
      const place = '/etc/temporal/dynamic-config.yaml';
      expect(temporal?.environment?.DYNAMIC_CONFIG_FILE_PATH).toBe(place);
      expect(temporal?.volumes).toContain(`./temporal-dynamic-config.yaml:${place}:ro`);
      const values = Object.entries(DYNAMIC_CONFIG).map(([key, value]) => [key, [{ value }]]);
      expect(parse(read('temporal-dynamic-config.yaml'))).toEqual(Object.fromEntries(values));
    });

    it('has a UI in which activities can be paused and reset', () => {
      expect(atLeast(ui?.image.split(':')[1] ?? '', '2.47.0')).toBe(true);
    });
  });
});
