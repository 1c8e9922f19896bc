/** nginx in front of the API, as Debian ships it, if it is installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installedProgram } from '../programs/installed-program.ts';
import { freePort, untilAccepts } from './ports.ts';

export interface Nginx {
  /** `http://127.0.0.1:<port>/<way>`; each way has its own connections. */
  way(index: number): string;
  close(): Promise<void>;
}

/** Its path; undefined if it is not installed. */
export const findNginx = () => installedProgram('nginx');

/**
 * Keeps its connections to the server for 60 s, its default, and repeats no request.
 * @param program the path of nginx
 * @param port of the server, on 127.0.0.1
 * @param ways to the server
 */
export async function startNginx(program: string, port: number, ways: number): Promise<Nginx> {
  const own = await freePort();
  const indexes = Array.from({ length: ways }, (_, index) => index);
  const upstream = (index: number) => `upstream api${index} { server 127.0.0.1:${port}; keepalive 1; }`;
  const location = (index: number) => `location /${index}/ { proxy_pass http://api${index}/; }`;
  const close = await runNginx(
    program,
    own,
    `keepalive_timeout 600s;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_next_upstream off;
    ${indexes.map(location).join('\n    ')}`,
    indexes.map(upstream).join('\n  '),
  );
  return { way: (index) => `http://127.0.0.1:${own}/${index}`, close };
}

/**
 * Starts one at this port, and waits until it accepts connections.
 * @param lines of its `server`
 * @param before the server
 * @returns ends it
 */
export async function runNginx(
  program: string,
  own: number,
  lines: string,
  before = '',
): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-nginx-'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  ${before}
  server {
    listen 127.0.0.1:${own};
    ${lines}
  }
}
`,
  );
  const child = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  await untilAccepts('nginx', own);
  return async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
}
