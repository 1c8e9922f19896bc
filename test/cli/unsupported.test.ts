/** On a system that cannot run Waybill, the server and the command say so in one sentence. */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Makes a process believe that it runs elsewhere; tried for musl on a real Node.js of it, too. */
const pretended: Readonly<Record<string, string>> = {
  musl: `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { existsSync } = fs;
    fs.existsSync = (path) => path === '/lib' || existsSync(path);
    fs.readdirSync = () => ['ld-musl-x86_64.so.1'];
    syncBuiltinESMExports();
    process.report.getReport = () => ({ header: {} });
    Object.defineProperty(process, 'platform', { value: 'linux' });`,
  windows: "Object.defineProperty(process, 'platform', { value: 'win32' });",
  freebsd: "Object.defineProperty(process, 'platform', { value: 'freebsd' });",
  arm: "Object.defineProperty(process, 'arch', { value: 'arm' });",
  old: "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.3' } });",
};

it.each([
  ['musl', /^Waybill does not run on musl, as of Alpine: .+ with Docker\.\n$/],
  ['windows', /^Waybill does not run on Windows itself: run it in WSL .+\.\n$/],
  ['freebsd', /^Waybill runs on Linux and macOS, .+ not on freebsd on \w+\.\n$/],
  ['arm', /^Waybill runs on Linux and macOS, .+ not on \w+ on arm\.\n$/],
  ['old', /^Waybill needs Node\.js 20\.19 or newer, not 20\.18\.3: .+\.\n$/],
])('an unsupported system is refused in one sentence: %s', async (system, message) => {
  const preload = `data:text/javascript,${encodeURIComponent(pretended[system] ?? '')}`;
  for (const program of ['bin/main.js', 'bin/waybill.js', 'bin/build.js']) {
    const ended = await new Promise<{ code: unknown; stderr: string }>((done) => {
      execFile(process.execPath, ['--import', preload, join(root, program)], (error, _, stderr) =>
        done({ code: error?.code, stderr }),
      );
    });
    expect(ended, program).toEqual({ code: 1, stderr: expect.stringMatching(message) });
  }
});
