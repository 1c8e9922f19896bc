/**
 * Builds the stages of our Dockerfile as folders, each the root of a Debian, copied by hard links: our steps add and
 * remove files, and change none. Needs root, `unshare` and `debootstrap`.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findTemporal } from '../../../../src/embedded/temporal-binary.ts';
import { parseDockerfile, type Settings, type Stage } from './dockerfile.ts';

const execute = promisify(execFile);
const OUTPUT_BYTES = 256 * 1024 * 1024;

/** Runs a program; @throws Error with its output unless it ends well */
export async function run(program: string, ...args: readonly string[]): Promise<string> {
  return (await execute(program, args, { maxBuffer: OUTPUT_BYTES })).stdout;
}

/** An image: the folder of its files, and what it says about its containers. */
export interface Image {
  readonly root: string;
  readonly settings: Settings;
}

const OF_NODE_IMAGE: Settings = {
  workdir: '/',
  env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  user: 'root',
  ports: [],
  volumes: [],
  command: ['node'],
  healthcheck: [],
  stopSignal: 'SIGTERM',
};

/**
 * Docker's `node:…-slim`: the smallest Debian without documents and translations, Node.js, npm, and the user `node`.
 * @param name of the image: "node:24.21.0-bookworm-slim"
 */
async function makeNodeImage(root: string, name: string): Promise<void> {
  if (existsSync(root)) return;
  const [, version] = /^node:(\d+\.\d+\.\d+)-bookworm-slim$/.exec(name) ?? [];
  if (version === undefined) throw new Error(`The emulation cannot make ${name}.`);
  await run('debootstrap', '--variant=minbase', 'bookworm', root);
  for (const folder of [
    'var/cache/apt',
    'var/lib/apt/lists',
    'usr/share/doc',
    'usr/share/man',
    'usr/share/locale',
  ])
    await rm(join(root, folder), { recursive: true, force: true });
  const local = join(root, 'usr/local');
  const packages = [`node-linux-${process.arch}@${version}`, 'npm@11'];
  await run(
    'npm',
    'install',
    '--prefix',
    join(local, 'lib'),
    '--no-save',
    '--no-audit',
    '--ignore-scripts',
    ...packages,
  );
  const modules = join(local, 'lib/node_modules');
  await cp(join(modules, `node-linux-${process.arch}/bin/node`), join(local, 'bin/node'));
  await rm(join(modules, `node-linux-${process.arch}`), { recursive: true });
  for (const name of ['npm', 'npx'])
    await run('ln', '-sf', `../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  await run('chroot', root, 'groupadd', '--gid', '1000', 'node');
  await run('chroot', root, 'useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node');
}

/** The script of a step, in the stage's root: with this machine's network, npm settings and Temporal CLI. */
const IN_ROOT = `
set -e
root=$1 workdir=$2 script=$3 temporal=$4 npmrc=$5 authorities=$6
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/mnt"
cp "$temporal" "$root/mnt/temporal"
for file in "$npmrc" "$authorities"; do if [ -f "$file" ]; then cp "$file" "$root/mnt/"; fi; done
exec chroot "$root" env -i PATH="$PATH:/mnt" HOME=/tmp npm_config_userconfig="/mnt/\${npmrc##*/}" \\
  NODE_EXTRA_CA_CERTS="/mnt/\${authorities##*/}" sh -ec "cd '$workdir'; $script"
`;

async function runStep(root: string, workdir: string, script: string): Promise<void> {
  const npmrc = (await run('npm', 'config', 'get', 'userconfig')).trim();
  const temporal = await findTemporal({ report: () => {} });
  const authorities = process.env.NODE_EXTRA_CA_CERTS ?? '/none';
  const args = [root, workdir, script, temporal, npmrc, authorities];
  const apart = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private'];
  await run('unshare', ...apart, 'bash', '-c', IN_ROOT, 'step', ...args);
}

/** Copies as `COPY` does: the contents of a folder, or a file under its name where the target ends with a slash. */
async function copy(from: string, root: string, to: string): Promise<void> {
  const named = to.endsWith('/') && !(await stat(from)).isDirectory() ? join(to, basename(from)) : to;
  const target = join(root, named);
  await mkdir(dirname(target), { recursive: true });
  await run('cp', '-aT', '--no-preserve=ownership', '--remove-destination', from, target);
}

interface Building {
  /** A checkout. */
  readonly context: string;
  /** The folder of all stages. */
  readonly folder: string;
  /** A made image of Node.js; made if it is missing. */
  readonly base: string;
}

/** Builds targets of the Dockerfile in a checkout. */
export async function buildImages<Target extends string>(
  dockerfile: string,
  targets: readonly Target[],
  { context, folder, base }: Building,
): Promise<Record<Target, Image>> {
  const stages = new Map(parseDockerfile(dockerfile).map((stage) => [stage.name, stage]));
  const built = new Map<string, Image>();

  async function build(name: string): Promise<Image> {
    const known = built.get(name);
    if (known !== undefined) return known;
    const stage = stages.get(name);
    if (stage === undefined) await makeNodeImage(base, name);
    const image = stage === undefined ? { root: base, settings: OF_NODE_IMAGE } : await make(stage);
    built.set(name, image);
    return image;
  }

  async function make({ name, from, steps }: Stage): Promise<Image> {
    const parent = await build(from);
    const root = join(folder, name);
    await run('cp', '-al', parent.root, root);
    let { settings } = parent;
    for (const step of steps) {
      const { workdir } = settings;
      if (step.what === 'run') await runStep(root, workdir, step.script);
      else if (step.what === 'set')
        settings = { ...settings, ...step.settings, env: { ...settings.env, ...step.settings.env } };
      else {
        const source = step.from === undefined ? context : (await build(step.from)).root;
        const to = step.target.startsWith('/') ? step.target : `${join(workdir, step.target)}`;
        const into = step.sources.length > 1 && !to.endsWith('/') ? `${to}/` : to;
        for (const path of step.sources) await copy(join(source, path), root, into);
      }
      await mkdir(join(root, settings.workdir), { recursive: true });
    }
    return { root, settings };
  }

  const images = [];
  for (const target of targets) images.push([target, await build(target)] as const);
  return Object.fromEntries(images) as Record<Target, Image>;
}
