/** The checks before a commit, which `npm run hooks` switches on in a checkout, in a repository of their own. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderOfFile } from '../support/ends.ts';

const root = resolve(import.meta.dirname, '../..');
const repository = await folderOfFile('waybill-hooks-');

function git(...args: string[]): { code: number | null; said: string } {
  const { status: code, stdout, stderr } = spawnSync('git', args, { cwd: repository, encoding: 'utf8' });
  return { code, said: stdout + stderr };
}
const commit = (message: string) => git('commit', '--quiet', '--message', message);

/** Stages a file of this content. */
function stage(name: string, text: string): void {
  writeFileSync(join(repository, name), text);
  git('add', name);
}

for (const name of ['biome.json', '.oxlintrc.json', 'tsconfig.json'])
  copyFileSync(join(root, name), join(repository, name));
symlinkSync(join(root, 'node_modules'), join(repository, 'node_modules'));
git('init', '--quiet');
git('config', 'user.name', 'A');
git('config', 'user.email', 'a@a.example');
const { hooks } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;
expect(hooks).toBe('git config core.hooksPath .githooks');
git('config', 'core.hooksPath', join(root, '.githooks'));

describe('the subject of a commit', () => {
  it.each([
    ['may have 72 characters', `Add ${'a'.repeat(68)}`, 0, ''],
    ['must not have more than 72 characters', `Add ${'a'.repeat(69)}`, 1, 'has 73 characters, of at most 72'],
    ['must begin with a verb of the list', 'Polish the relay', 1, 'begins with "Polish"'],
    ['may be that of a fixup', 'fixup! Polish the relay', 0, ''],
  ])('%s', (_what, message, code, said) => {
    stage('a.txt', message);
    const ended = commit(message);
    expect(ended).toEqual({ code, said: expect.stringContaining(said) });
  });
});

describe('staged files', () => {
  it('must be formatted and free of warnings', () => {
    stage('a.ts', 'let a = 1\nexport { a }\n');
    expect(commit('Add a file')).toEqual({ code: 1, said: expect.stringContaining('useConst') });
    stage('a.ts', 'export const a = 1;\n');
    expect(commit('Add a file')).toEqual({ code: 0, said: expect.any(String) });
  });

  it('must not use a promise as a condition', () => {
    stage('b.ts', 'export const b = async () => true;\nif (b()) process.exit();\n');
    expect(commit('Add a file')).toEqual({ code: 1, said: expect.stringContaining('no-misused-promises') });
    git('rm', '--cached', '--quiet', 'b.ts');
  });
});
