/** `package.json` says where the project lives and who hears of its holes; `npm run owner` sets the copies. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { isUnset, OWNED, readOwner, withOwner } from '../../release/owner.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const owner = await readOwner();

const Manifest = v.object({
  homepage: v.string(),
  repository: v.object({ type: v.literal('git'), url: v.string() }),
  bugs: v.object({ url: v.string(), email: v.string() }),
});

it.each(['package.json', 'receiver/package.json'])(
  '%s names repository, homepage and bugs of one owner',
  (file) => {
    const { homepage, repository, bugs } = v.parse(Manifest, JSON.parse(read(file)));
    expect(homepage.startsWith(owner.repository)).toBe(true);
    expect(repository.url).toBe(`git+${owner.repository}.git`);
    expect(bugs).toEqual({ url: `${owner.repository}/issues`, email: owner.security });
  },
);

it('SECURITY.md says where and to whom to report', () => {
  expect(read('SECURITY.md')).toContain(`${owner.repository}/security/advisories/new`);
  expect(read('SECURITY.md')).toContain(`<${owner.security}>`);
});

it('no other file names the owner, so that one command changes all', () => {
  const patterns = [owner.repository, owner.security].flatMap((text) => ['-e', text]);
  const found = execFileSync('git', ['grep', '-lF', ...patterns, '--', '.', ':!release/owner.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(found.trim().split('\n').sort()).toEqual([...OWNED].sort());
});

it('a new owner takes the place of the old one everywhere in a text', () => {
  const acme = { repository: 'https://github.com/acme/waybill', security: 'security@acme.example' };
  const text = OWNED.map((file) => withOwner(read(file), owner, acme)).join('\n');
  expect(text).not.toMatch(/\bOWNER\b|owner\.example/);
  expect(text).toContain('"url": "git+https://github.com/acme/waybill.git"');
  expect(isUnset(acme)).toBe(false);
});
