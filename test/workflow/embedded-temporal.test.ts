/** The dev server of `npm start` and of the tests. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';

/** A program that notes the port it is to serve on, and ends the first `failures` times as one does whose port is taken. */
async function failing(directory: string, failures: number): Promise<string> {
  const program = join(directory, 'temporal');
  await writeFile(
    program,
    `#!/bin/sh
echo "$6" >> '${directory}/ports'
[ "$(wc -l < '${directory}/ports')" -le ${failures} ] && exit 1
exec '${await findTemporal({ report: () => {} })}' "$@"
`,
  );
  await chmod(program, 0o755);
  return program;
}

test.each([
  [2, 3],
  [3, 3],
])(
  'it ends at once %d times: started %d times, each on another port',
  async (failures, starts) => {
    const directory = await mkdtemp(join(tmpdir(), 'waybill-temporal-'));
    try {
      const started = startTemporal({ binary: await failing(directory, failures), ui: false });
      if (failures < starts) await (await started).stop();
      else await expect(started).rejects.toThrow(/^Temporal exited immediately\.$/);
      const ports = (await readFile(join(directory, 'ports'), 'utf8')).trim().split('\n');
      expect(ports).toHaveLength(starts);
      expect(new Set(ports).size).toBe(starts);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
  60_000,
);
