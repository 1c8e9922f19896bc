/** Reads the instructions that our Dockerfile uses, so that its image can be built and run without Docker. */
import * as v from 'valibot';

/** One `FROM` and what follows. */
export interface Stage {
  readonly name: string;
  /** The name of another stage, or an image. */
  readonly from: string;
  readonly steps: readonly Step[];
}

export type Step =
  | { readonly what: 'run'; readonly script: string }
  | {
      readonly what: 'copy';
      /** A stage; undefined: the context. */
      readonly from: string | undefined;
      readonly sources: readonly string[];
      readonly target: string;
    }
  | { readonly what: 'set'; readonly settings: Partial<Settings> };

/** What an image says about its containers. */
export interface Settings {
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly ports: readonly number[];
  readonly volumes: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly stopSignal: string;
}

const words = v.pipe(v.string(), v.parseJson(), v.array(v.string()));

function settingsOf(instruction: string, text: string): Partial<Settings> {
  switch (instruction) {
    case 'WORKDIR':
      return { workdir: text };
    case 'USER':
      return { user: text };
    case 'EXPOSE':
      return { ports: text.split(/\s+/).map(Number) };
    case 'VOLUME':
      return { volumes: text.split(/\s+/) };
    case 'STOPSIGNAL':
      return { stopSignal: text };
    case 'CMD':
      return { command: v.parse(words, text) };
    case 'HEALTHCHECK':
      return { healthcheck: v.parse(words, text.slice(text.indexOf('CMD') + 'CMD'.length)) };
    case 'ENV':
      return {
        env: Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])),
      };
    default:
      throw new Error(`The emulation knows no ${instruction}.`);
  }
}

function stepOf(instruction: string, text: string): Step {
  if (instruction === 'RUN') return { what: 'run', script: text };
  if (instruction !== 'COPY') return { what: 'set', settings: settingsOf(instruction, text) };
  const [, from, names = ''] = /^(?:--from=(\S+)\s+)?(.+)$/s.exec(text) ?? [];
  const paths = names.split(/\s+/);
  return { what: 'copy', from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '.' };
}

/** @throws Error at an instruction that our Dockerfile has not used so far */
export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  const stages: { name: string; from: string; steps: Step[] }[] = [];
  for (const line of lines) {
    const [, instruction, rest = ''] = /^([A-Z]+)\s+(.+)$/.exec(line.trim()) ?? [];
    if (instruction === undefined) continue;
    if (instruction === 'FROM') {
      const [from = '', , name = ''] = rest.split(/\s+/);
      stages.push({ name, from, steps: [] });
    } else stages.at(-1)?.steps.push(stepOf(instruction, rest));
  }
  return stages;
}
