/** The alerts on Prometheus' own evaluation, as far as it is installed. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { installedProgram } from '../support/programs/installed-program.ts';

const folder = join(import.meta.dirname, '../../monitoring/prometheus');
const promtool = installedProgram('promtool');

it.skipIf(promtool === undefined)('each alert fires in its situation, by promtool', async () => {
  const run = promisify(execFile);
  const inFolder = { cwd: folder };
  await run(promtool ?? '', ['check', 'rules', 'recording.yml', 'alerts.yml'], inFolder);
  const { stdout } = await run(promtool ?? '', ['test', 'rules', 'alerts.test.yml'], inFolder);
  expect(stdout).toContain('SUCCESS');
  await run(promtool ?? '', ['check', 'rules', 'postgres-disk.example.yml'], inFolder);
  await run(promtool ?? '', ['test', 'rules', 'postgres-disk.example.test.yml'], inFolder);
});
