/**
 * The compose file and the Dockerfile, as far as they can be checked without running them.
 * @module
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { variables } from '../../src/config/variables.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const conditions = v.picklist(['service_started', 'service_healthy', 'service_completed_successfully']);
const serviceSchema = v.strictObject({
  image: v.string(),
  build: v.optional(v.string()),
  restart: v.optional(v.picklist(['no', 'always', 'on-failure', 'unless-stopped'])),
  stop_grace_period: v.optional(v.pipe(v.string(), v.regex(/^\d+s$/))),
  depends_on: v.optional(v.record(v.string(), v.strictObject({ condition: conditions }))),
  environment: v.optional(v.record(v.string(), v.string())),
  ports: v.optional(v.array(v.pipe(v.string(), v.regex(/^[\d.]+:\d+:\d+$/)))),
  volumes: v.optional(v.array(v.string())),
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

/** What compose makes of `${NAME:-default}` and `${NAME:?message}` when only what must be set is set. */
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
  // Nor is one written out.
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

  it('has more time to stop than an attempt takes', () => {
    const grace = Number.parseInt(service.stop_grace_period ?? '0', 10) * 1_000;
    expect(grace).toBeGreaterThan(2 * loadConfig(environment).retryPolicy.attemptTimeoutMs);
  });
});

describe.each(services)('the parts of %s', (_, service) => {
  it('waits only for services there are, and for the healthy only where there is a check', () => {
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(compose.services).toHaveProperty(name);
      if (condition === 'service_healthy') expect(compose.services[name]?.healthcheck).toBeDefined();
    }
  });

  it('opens ports on this machine only', () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });
});
