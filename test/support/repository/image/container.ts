/**
 * Runs an image of `build.ts` as Docker would with `--read-only --cap-drop ALL --security-opt no-new-privileges`: own
 * namespaces (no way out of its network), its own user, a read-only root, and volumes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../until.ts';
import { type Image, run } from './build.ts';

const SET_UP = `
set -e
root=$1 mounts=$2
shift 2
ip link set lo up || true
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir -m 1777 "$root/dev/shm"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/dev/shm"
for mount in $mounts; do
  if [ "\${mount%%:*}" = tmpfs ]; then mount -t tmpfs -o mode=700,uid=1000,gid=1000 tmpfs "$root/\${mount#*:}"
  else mount --bind "\${mount%%:*}" "$root/\${mount#*:}"; fi
done
exec chroot "$root" "$@"
`;

const UNPRIVILEGED = [
  'setpriv',
  '--reuid=1000',
  '--regid=1000',
  '--clear-groups',
  '--no-new-privs',
  '--bounding-set=-all',
  '--inh-caps=-all',
];

/** A container. */
export interface Container {
  /** The process id, as this machine sees it. */
  readonly pid: number;
  output(): string;
  /** Runs a command in it, as its user; @throws Error with its output unless it ends well */
  exec(...command: readonly string[]): Promise<string>;
  /** Whether the image's own check finds it healthy. */
  isHealthy(): Promise<boolean>;
  /** Sends the image's signal. @returns the exit code, once it has ended; null if a signal ended it */
  stop(): Promise<number | null>;
  /** Ends all its processes at once. */
  kill(): Promise<void>;
  /** Once it has ended. */
  readonly ended: Promise<number | null>;
}

/**
 * @param mounts the container's folders that can be written: to a folder of this machine, or to "tmpfs"
 * @param env beside that of the image
 * @param network its own, which leads nowhere, or this machine's
 */
export async function startContainer(
  { root, settings }: Image,
  mounts: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  network: 'none' | 'host' = 'none',
): Promise<Container> {
  const { workdir, command, healthcheck } = settings;
  const variables = Object.entries({ HOME: '/home/node', ...settings.env, ...env }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const within = (words: readonly string[]) => [
    ...UNPRIVILEGED,
    'env',
    '-i',
    '-C',
    workdir,
    ...variables,
    ...words,
  ];
  const net = network === 'none' ? ['--net'] : [];
  const apart = [
    '--mount',
    '--pid',
    '--ipc',
    '--uts',
    ...net,
    '--fork',
    '--kill-child',
    '--propagation',
    'private',
  ];
  const list = Object.entries(mounts).map(([path, source]) => `${source}:${path}`);
  const child = spawn(
    'unshare',
    [...apart, 'bash', '-c', SET_UP, 'container', root, list.join(' '), ...within(command)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = once(child, 'exit').then(([code]): number | null => code);
  // `unshare` waits for its only child, the first process of the namespaces.
  const pid = await until('the first process of the container', async () => {
    const children = await readFile(
      join('/proc', String(child.pid), 'task', String(child.pid), 'children'),
      'utf8',
    );
    return Number.parseInt(children, 10) || undefined;
  });
  const exec = async (...words: readonly string[]) =>
    await run('nsenter', '--target', String(pid), '--all', '--root', '--', ...within(words));
  return {
    pid,
    output: () => output,
    exec,
    isHealthy: async () =>
      await exec(...healthcheck).then(
        () => true,
        () => false,
      ),
    async stop() {
      process.kill(pid, settings.stopSignal as NodeJS.Signals);
      return await ended;
    },
    async kill() {
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, 'SIGKILL');
      await ended;
    },
    ended,
  };
}
