/**
 * The parts of the receiver's kit made from the server's schemas and signing code: types, kinds, samples, vectors.
 * Types and samples are not kept in the repository, and not formatted.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describeSchema } from '../../src/api/json-schema.ts';
import { catalogue, entryOf, idOf, sampleOf } from '../../src/domain/catalogue.ts';
import { type PayloadVersion, payloadVersions } from '../../src/domain/decimal.ts';
import {
  type EventType,
  eventTypeNames,
  eventTypes,
  movementOf,
  packingListEventTypes,
} from '../../src/domain/event-types.ts';
import { decimalFields, decimalObjects, render } from '../../src/domain/render.ts';
import { asymmetricSetupVectors, asymmetricVectors } from './asymmetric-vectors.ts';
import { declarationOf } from './typescript.ts';
import { refusedVectors, setupVectors, signedVectors } from './vectors.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url));
const NOTE = 'Made by `npm run receiver:generate` from the schemas of the server: do not edit.';

/** The name of a record's interface, as in the OpenAPI document. */
function nameOf(type: EventType, version: PayloadVersion): string {
  const { schema } = describeSchema(entryOf(type).recordSchema(version), 'output');
  return String(schema.$ref).split('/').at(-1) ?? '';
}

/** The type of a kind's payload: each kind of stock movement has its own. */
function payloadType(type: EventType, version: PayloadVersion): string {
  const movement = movementOf(type);
  const name = nameOf(type, version);
  return movement === null ? name : `${name} & { readonly type: ${JSON.stringify(movement)} }`;
}

/** The sample of a kind, as the sender would send it. */
function bodyOf(type: EventType, version: PayloadVersion): string {
  return render(sampleOf(type), { version, withPackingLists: packingListEventTypes.includes(type) });
}

function payloads(): string {
  const declared = new Map<string, string>();
  for (const { noun, recordSchema } of Object.values(catalogue))
    for (const version of payloadVersions) {
      const numbers = version === 'v21' ? 'JSON numbers' : 'money and counts as decimal strings';
      const description = `Of the record "${noun}" in ${version}: ${numbers}.`;
      const { components } = describeSchema(recordSchema(version), 'output');
      for (const [name, schema] of Object.entries(components))
        declared.set(name, declarationOf(name, description, schema));
    }
  const tables = payloadVersions.map((version) => {
    const fields = eventTypeNames.map(
      (type) =>
        `/** When ${eventTypes[type].firesWhen}. */\nreadonly ${type}: ${payloadType(type, version)};`,
    );
    return `readonly ${version}: {\n${fields.join('\n')}\n};`;
  });
  return `/**
 * What the kinds of event deliver, in both payload versions. ${NOTE}
 */
import type { Kind } from './kinds.ts';

/** The \`payloadVersion\` of a webhook. */
export type PayloadVersion = ${payloadVersions.map((version) => `'${version}'`).join(' | ')};

${[...declared.values()].join('\n')}
/** By payload version and kind. */
export interface Payloads {
${tables.join('\n')}
}

/** What a kind delivers; for several kinds, one of what they deliver. */
export type Payload<K extends Kind = Kind, V extends PayloadVersion = 'v2'> = Payloads[V][K];
`;
}

const listed = (names: ReadonlySet<string>) => JSON.stringify([...names]);

function kinds(): string {
  const entries = eventTypeNames.map((type) => {
    const { path, idField } = entryOf(type);
    return `${type}: { path: '${path}', idField: '${idField}' },`;
  });
  return `/** The kinds of event. ${NOTE} */

/** Of each kind: where the API has its records (below the version), and which of their fields identifies them. */
export const kinds = {
${entries.join('\n')}
} as const;

/** A \`webhookType\`. */
export type Kind = keyof typeof kinds;

/** Fields, wherever they stand, that v2 writes as decimal strings and v21 as numbers. */
export const decimalFields: readonly string[] = ${listed(decimalFields)};

/** Fields whose object holds nothing but such decimals. */
export const decimalObjects: readonly string[] = ${listed(decimalObjects)};
`;
}

function samples(): string {
  const ids = eventTypeNames.map(
    (type) => `${type}: ${JSON.stringify(idOf(entryOf(type), sampleOf(type)))},`,
  );
  // Kinds with the same payload share their sample.
  const constants = new Map<string, string>();
  const records = payloadVersions.map((version) => {
    const entries = eventTypeNames.map((type) => {
      const body = bodyOf(type, version);
      const declared = `: ${payloadType(type, version)} = ${body};`;
      const name = constants.get(declared) ?? `sample${constants.size + 1}`;
      constants.set(declared, name);
      return `${type}: ${name},`;
    });
    return `${version}: {\n${entries.join('\n')}\n},`;
  });
  const types = [
    ...new Set(eventTypeNames.flatMap((type) => payloadVersions.map((each) => nameOf(type, each)))),
  ];
  const imported = [...types, 'Payload', 'Payloads', 'PayloadVersion'].sort((a, b) => a.localeCompare(b));
  return `/**
 * One record of each kind in both payload versions, as the documentation shows them. ${NOTE}
 */
import type { Kind } from './kinds.ts';
import type { ${imported.join(', ')} } from './payloads.generated.ts';

const ids: Readonly<Record<Kind, string>> = {
${ids.join('\n')}
};

${[...constants].map(([declared, name]) => `const ${name}${declared}`).join('\n\n')}

const records: Payloads = {
${records.join('\n')}
};

/** A record of this kind, and its identifier. */
export function sampleOf<K extends Kind, V extends PayloadVersion>(
  kind: K,
  version: V,
): { readonly id: string; readonly record: Payload<K, V> } {
  return { id: ids[kind], record: records[version][kind] };
}
`;
}

/** Whether a generated file is kept in the repository. */
export const isKept = (path: string) => !path.includes('.generated.');

/** Formats a source in the repository's style. */
async function formatted(path: string, source: string): Promise<string> {
  const child = spawn(biome, ['format', `--stdin-file-path=${path}`], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(source);
  return await text(child.stdout);
}

/** Every generated file by its path from the root. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const order = bodyOf('CREATE_ORDER', 'v2');
  const files: readonly [string, string][] = [
    ['receiver/src/kinds.ts', kinds()],
    ['receiver/src/payloads.generated.ts', payloads()],
    ['receiver/src/samples.generated.ts', samples()],
    ['receiver/vectors/signed.json', JSON.stringify(signedVectors(bodyOf))],
    ['receiver/vectors/refused.json', JSON.stringify(refusedVectors(bodyOf))],
    ['receiver/vectors/setup.json', JSON.stringify(setupVectors())],
    ['receiver/vectors/asymmetric.json', JSON.stringify(asymmetricVectors(order))],
    ['receiver/vectors/asymmetric-setup.json', JSON.stringify(asymmetricSetupVectors(order))],
  ];
  return new Map(
    await Promise.all(
      files.map(
        async ([path, source]): Promise<[string, string]> => [
          path,
          isKept(path) ? await formatted(path, source) : source,
        ],
      ),
    ),
  );
}
