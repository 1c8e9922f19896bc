/**
 * Reads the set-up of Temporal from `docker-compose.temporal.yml`, to do it without containers: so that the bench and trials use
 * exactly that set-up.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { parse } from 'yaml';

const root = new URL('../../', import.meta.url);

const serviceSchema = v.object({
  image: v.string(),
  environment: v.record(v.string(), v.string()),
  command: v.optional(v.array(v.string()), []),
});
const fileSchema = v.object({
  services: v.object({
    'temporal-schema': serviceSchema,
    temporal: serviceSchema,
    'temporal-namespace': serviceSchema,
  }),
});

/** A service of the file, as Compose would run it. */
export interface ComposeService {
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** The set-up of Temporal in the file. */
export interface ComposeTemporal {
  /** The version of the server: "1.32.0". */
  readonly version: string;
  readonly schema: ComposeService;
  readonly server: ComposeService;
  readonly namespace: ComposeService;
}

/** The file that the server's dynamic configuration is mounted from. */
export const dynamicConfigFile = fileURLToPath(new URL('temporal-dynamic-config.yaml', root));

/** @param password the value for `POSTGRES_PASSWORD` in the file */
export function composeTemporal(password: string): ComposeTemporal {
  const text = readFileSync(new URL('docker-compose.temporal.yml', root), 'utf8');
  const { services } = v.parse(fileSchema, parse(text, { merge: true }));
  const interpolated = (value: string) =>
    value.replaceAll(/\$\{POSTGRES_PASSWORD:\?[^}]*\}/g, password).replaceAll('$$', '$');
  const service = ({ environment, command }: v.InferOutput<typeof serviceSchema>): ComposeService => ({
    environment: Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, interpolated(value)]),
    ),
    command: command.map(interpolated),
  });
  return {
    version: services.temporal.image.split(':')[1] ?? '',
    schema: service(services['temporal-schema']),
    server: service(services.temporal),
    namespace: service(services['temporal-namespace']),
  };
}
