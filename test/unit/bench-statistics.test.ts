import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { cpuMilliseconds, difference } from '../../bench/cpu.ts';
import { median, percentile, shown, table } from '../../bench/statistics.ts';

test('medians', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test('percentiles are values that occurred', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(hundred, 50)).toBe(50);
  expect(percentile(hundred, 99)).toBe(99);
  expect(percentile([7], 99)).toBe(7);
  expect(percentile([], 50)).toBeNaN();
});

test('a table lines up', () => {
  expect(
    table(
      ['', 'flat out'],
      [
        ['p50', shown(12.345)],
        ['deliveries', shown(1234.5)],
      ],
    ),
  ).toBe(
    [
      '|            | flat out |',
      '| ---------- | -------: |',
      '| p50        |     12.3 |',
      '| deliveries |     1235 |',
    ].join('\n'),
  );
});

describe.runIf(process.platform === 'linux')('processor time', () => {
  test('counts a process with those it started, also after they ended', async () => {
    // Measured in processor time, however busy the machine is.
    const busy = 'while (process.cpuUsage().user < 400_000) for (let step = 0; step < 1e6; step += 1);';
    const program = `
      const { spawnSync } = require('node:child_process');
      process.stdin.once('data', () => {
        spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}]);
        process.stdout.write('done');
      });
      process.stdout.write('ready');`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const roots = { child: child.pid ?? 0, self: process.pid };

    const before = cpuMilliseconds(roots);
    const own = process.cpuUsage();
    child.stdin.write('go');
    await once(child.stdout, 'data');
    const used = difference(cpuMilliseconds(roots), before);
    const { user, system } = process.cpuUsage(own);
    child.kill();

    expect(used.child).toBeGreaterThan(300);
    // This process's own use, whatever other tests do in it, without that of its child.
    expect((used.self ?? Number.NaN) - (user + system) / 1_000).toBeLessThan((used.child ?? 0) / 2);
  });
});
