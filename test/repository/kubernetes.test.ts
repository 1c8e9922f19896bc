/**
 * The manifests of deploy/kubernetes, checked with the schemas of Kubernetes and against the program's needs.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { variables } from '../../src/config/variables.ts';
import { createAddressGuard } from '../../src/delivery/address-guard.ts';
import { createMetrics, watchProcess } from '../../src/metrics/metrics.ts';
import { installedProgram } from '../support/programs/installed-program.ts';
import { selectedIn } from '../support/repository/expressions.ts';
import { labelsOf } from '../support/repository/metrics-table.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'deploy/kubernetes');
const read = (path: string) => readFileSync(path, 'utf8');

const metadata = v.looseObject({
  name: v.string(),
  labels: v.optional(v.record(v.string(), v.string()), {}),
});
const objectSchema = v.looseObject({ apiVersion: v.string(), kind: v.string(), metadata });
type KubernetesObject = v.InferOutput<typeof objectSchema>;

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.yaml'),
);
const isKustomization = (path: string) => path.endsWith('kustomization.yaml');
const objectsIn = (text: string) =>
  parseAllDocuments(text).map((document) => v.parse(objectSchema, document.toJS()));
const manifests = files
  .filter((path) => !isKustomization(path))
  .flatMap((path) =>
    objectsIn(read(join(folder, path))).map((object) => ({
      title: `${path}: ${object.kind} ${object.metadata.name}`,
      object,
    })),
  );

const schemas = v.parse(
  v.looseObject({ kinds: v.record(v.string(), v.string()), $defs: v.record(v.string(), v.any()) }),
  JSON.parse(read(join(root, 'test/support/repository/kubernetes/schemas.json'))),
);
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'kubernetes', $defs: schemas.$defs });

/** Everything that Kubernetes would refuse or, worse, drop silently. */
function problemsOf(object: unknown): string[] {
  const { apiVersion, kind } = v.parse(objectSchema, object);
  const name = schemas.kinds[`${apiVersion} ${kind}`];
  if (name === undefined) return [`no schema of ${apiVersion} ${kind}`];
  ajv.validate({ $ref: `kubernetes#/$defs/${name}` }, object);
  return (ajv.errors ?? []).map(({ instancePath, message, params }) =>
    `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
  );
}

/** Without KEDA's, which has its own schemas. */
const own = manifests.filter(({ object }) => object.kind !== 'ScaledObject');
it.each(own.map(({ title, object }) => [title, object] as const))('%s is valid', (_, object) => {
  expect(problemsOf(object)).toEqual([]);
});

function ofKind(kind: string): KubernetesObject[] {
  return manifests.map(({ object }) => object).filter((object) => object.kind === kind);
}

const probe = v.object({ httpGet: v.object({ path: v.string(), port: v.string() }) });
const containerSchema = v.looseObject({
  name: v.string(),
  image: v.string(),
  env: v.optional(v.array(v.strictObject({ name: v.string(), value: v.string() })), []),
  ports: v.optional(v.array(v.object({ name: v.string(), containerPort: v.number() })), []),
  startupProbe: v.optional(probe),
  readinessProbe: v.optional(probe),
  livenessProbe: v.optional(probe),
  lifecycle: v.optional(v.object({ preStop: v.object({ sleep: v.object({ seconds: v.number() }) }) })),
  resources: v.object({
    requests: v.object({ cpu: v.string(), memory: v.string() }),
    limits: v.strictObject({ memory: v.string() }),
  }),
  volumeMounts: v.optional(v.array(v.object({ mountPath: v.string() })), []),
});
const workloadSchema = v.looseObject({
  metadata,
  spec: v.looseObject({
    template: v.object({
      metadata: v.object({ labels: v.record(v.string(), v.string()) }),
      spec: v.looseObject({
        terminationGracePeriodSeconds: v.optional(v.number()),
        containers: v.tuple([containerSchema]),
      }),
    }),
  }),
});
const workloads = [...ofKind('Deployment'), ...ofKind('Job')].map((object) =>
  v.parse(workloadSchema, object),
);
const named = workloads.map((workload) => [workload.metadata.name, workload] as const);
const deployments = named.filter(([name]) => name !== 'waybill-migrate');

const literals = (path: string) =>
  v
    .parse(
      v.object({ configMapGenerator: v.array(v.object({ literals: v.array(v.string()) })) }),
      parse(read(join(folder, path))),
    )
    .configMapGenerator.flatMap(({ literals }) => literals)
    .map((literal) => [literal.split('=')[0] ?? '', literal.slice(literal.indexOf('=') + 1)] as const);
const configured = Object.fromEntries([
  ...literals('base/kustomization.yaml'),
  ...literals('overlays/example/kustomization.yaml'),
]);
/** The operator's values for the Secret; docs/handbook/kubernetes.md names it. */
const confidential = {
  SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  DATABASE_URL: 'postgres://waybill:secret@postgres.example/waybill?sslmode=verify-full',
  SMTP_URL: 'smtps://waybill:secret@mail.example',
};

describe.each(named)('%s', (_, { spec }) => {
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const own = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const { NODE_OPTIONS = '', ...settings } = own;

  it('sets only known variables', () => {
    const names = [...Object.keys(settings), ...Object.keys(configured), ...Object.keys(confidential)];
    expect(Object.keys(variables.entries)).toEqual(expect.arrayContaining(names));
  });

  it('has a valid configuration', () => {
    expect(loadConfig({ ...configured, ...confidential, ...settings }).unconfigured).toBe(false);
  });

  it('has no needless privileges', () => {
    expect(pod).toMatchObject({
      serviceAccountName: 'waybill',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('has a heap that fits into its memory', () => {
    const [, heap] = /^--max-old-space-size=(\d+)$/.exec(NODE_OPTIONS) ?? [];
    if (heap !== undefined)
      expect(Number(heap)).toBeLessThanOrEqual(0.75 * mebibytes(container.resources.limits.memory));
    expect(mebibytes(container.resources.requests.memory)).toBeLessThanOrEqual(
      mebibytes(container.resources.limits.memory),
    );
  });

  it('has the label that network policies select', () => {
    expect(spec.template.metadata.labels['app.kubernetes.io/name']).toBe('waybill');
  });
});

describe.each(deployments)('the server %s', (_, { spec }) => {
  const pod = spec.template.spec;
  const [container] = pod.containers;

  it('has enough time to stop', () => {
    const { shutdownGraceMs } = loadConfig({ ...configured, ...confidential, ROLE: 'worker' });
    const sleep = container.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleep + shutdownGraceMs / 1_000 + 5);
  });

  it('is probed at existing ports, and not restarted for the faults of others', () => {
    const ports = container.ports.map(({ name }) => name);
    for (const { httpGet } of [
      container.startupProbe,
      container.readinessProbe,
      container.livenessProbe,
    ].filter((each) => each !== undefined)) {
      expect(ports).toContain(httpGet.port);
    }
    expect(container.readinessProbe?.httpGet.path).toBe('/readyz');
    expect(container.livenessProbe?.httpGet.path).toBe('/healthz');
    expect(container.startupProbe?.httpGet.path).toBe('/healthz');
    expect(container.ports).toContainEqual({
      name: 'metrics',
      containerPort: Number(configured.METRICS_PORT),
    });
  });

  it('may write only to the folder of the image', () => {
    const [, dataDir] = /DATA_DIR=(\S+)/.exec(read(join(root, 'Dockerfile'))) ?? [];
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([dataDir]);
  });
});

it('every Deployment has a disruption budget', () => {
  const budgets = ofKind('PodDisruptionBudget').map((object) => object.metadata.name);
  expect(budgets.sort()).toEqual(deployments.map(([name]) => name).sort());
});

it('the autoscaler uses existing metrics', () => {
  const metrics = createMetrics();
  watchProcess(metrics);
  const known = new Map(
    metrics.registry.getMetricsAsArray().map((metric) => [metric.name, labelsOf(metric)] as const),
  );
  const [scaled] = ofKind('ScaledObject');
  const { spec } = v.parse(
    v.looseObject({
      spec: v.strictObject({
        scaleTargetRef: v.strictObject({ name: v.string() }),
        pollingInterval: v.number(),
        minReplicaCount: v.number(),
        maxReplicaCount: v.number(),
        fallback: v.strictObject({ failureThreshold: v.number(), replicas: v.number() }),
        advanced: v.any(),
        triggers: v.tuple([
          v.strictObject({ type: v.literal('prometheus'), metadata: v.record(v.string(), v.string()) }),
        ]),
      }),
    }),
    scaled,
  );
  expect(deployments.map(([name]) => name)).toContain(spec.scaleTargetRef.name);
  const selected = selectedIn(spec.triggers[0].metadata.query ?? '');
  expect(selected.length).toBe(3);
  for (const { name, labels } of selected) {
    const there = ['job', 'instance', ...(known.get(name) ?? [])];
    expect(labels.filter((label) => !there.includes(label))).toEqual([]);
    expect(known.has(name), name).toBe(true);
  }
});

const kubectl = installedProgram('kubectl');

it.skipIf(kubectl === undefined)('kustomize turns the example into valid manifests', () => {
  const text = execFileSync(kubectl ?? '', ['kustomize', join(folder, 'overlays/example')], {
    encoding: 'utf8',
  });
  const objects = objectsIn(text);
  expect(objects.filter(({ kind }) => kind !== 'ScaledObject').flatMap(problemsOf)).toEqual([]);
  expect(objects).toHaveLength(manifests.length + 1);
  // Its autoscaler sets the number.
  for (const object of objects.filter(({ kind }) => kind === 'Deployment')) {
    expect(object.spec).not.toHaveProperty('replicas');
  }
  for (const { kind, metadata } of objects)
    expect(metadata.labels['app.kubernetes.io/component'], kind).toBeDefined();
});

function mebibytes(quantity: string): number {
  const [, digits = '', unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? [];
  return Number(digits) * (unit === 'Gi' ? 1_024 : 1);
}

describe('the network policy for receivers', () => {
  const blocks = v
    .parse(
      v.looseObject({
        spec: v.looseObject({
          egress: v.tuple([
            v.looseObject({
              to: v.array(v.object({ ipBlock: v.object({ cidr: v.string(), except: v.array(v.string()) }) })),
            }),
          ]),
        }),
      }),
      ofKind('NetworkPolicy').find((object) => object.metadata.name === 'waybill-receivers'),
    )
    .spec.egress[0].to.map(({ ipBlock }) => ipBlock);

  const contains = (cidr: string, address: ipaddr.IPv4 | ipaddr.IPv6) => {
    const [base, bits] = ipaddr.parseCIDR(cidr);
    return base.kind() === address.kind() && address.match(base, bits);
  };
  const isOpen = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    blocks.some(
      ({ cidr, except }) => contains(cidr, address) && !except.some((each) => contains(each, address)),
    );

  /** The first and last address of a range, and those before and behind it. */
  function edges([base, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): (ipaddr.IPv4 | ipaddr.IPv6)[] {
    const bytes = base.toByteArray();
    const width = BigInt(bytes.length * 8);
    const first = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
    const size = 1n << (width - BigInt(bits));
    return [first - 1n, first, first + size - 1n, first + size]
      .filter((each) => each >= 0n && each < 1n << width)
      .map((each) =>
        ipaddr.fromByteArray([...Buffer.from(each.toString(16).padStart(bytes.length * 2, '0'), 'hex')]),
      );
  }

  /** The ranges that the guard's library knows. IPv4 written as IPv6 is dialled as IPv4. */
  const known = [ipaddr.IPv4, ipaddr.IPv6].flatMap(({ prototype }) =>
    Object.entries(v.parse(v.record(v.string(), v.array(v.any())), Reflect.get(prototype, 'SpecialRanges')))
      .filter(([name]) => name !== 'ipv4Mapped')
      .flatMap(([, ranges]) => (Array.isArray(ranges[0]) ? ranges : [ranges])),
  );

  it('the allowed addresses are exactly those that the guard allows', () => {
    const guard = createAddressGuard([]);
    const listed = blocks
      .flatMap(({ cidr, except }) => [cidr, ...except])
      .map((each) => ipaddr.parseCIDR(each));
    const named = ['168.63.129.16', '169.254.169.254', 'fd00:ec2::254', '64:ff9b::a00:1', '93.184.216.34'];
    const probes = [...[...known, ...listed].flatMap(edges), ...named.map((each) => ipaddr.parse(each))];
    expect(known.length).toBeGreaterThan(35);
    for (const address of probes)
      expect([String(address), isOpen(address)]).toEqual([
        String(address),
        guard.problemOf(String(address), 443) === null,
      ]);
  });
});
