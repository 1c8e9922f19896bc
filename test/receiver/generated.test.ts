/** The kit's kinds and test vectors match the server's schemas and signing code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generatedFiles, isKept } from '../../receiver/generate/generated.ts';

const root = new URL('../../', import.meta.url);

it('generated files are up to date (else: npm run receiver:generate)', async () => {
  for (const [path, source] of await generatedFiles())
    if (isKept(path)) expect(readFileSync(new URL(path, root), 'utf8'), path).toBe(source);
});
