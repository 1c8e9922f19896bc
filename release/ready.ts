/** What a tag needs besides passing tests; a dry run tells it, the real one insists on it. */
import { execFileSync } from 'node:child_process';
import { freezable, frozenProblems, readFrozen } from './frozen.ts';
import { isUnset, readOwner } from './owner.ts';
import { readTopSection, readVersion } from './version.ts';

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: new URL('../', import.meta.url), encoding: 'utf8' }).trim();

/** A sentence for each thing that is still to be done before this tree can be tagged and published. */
export async function unready(): Promise<string[]> {
  const version = await readVersion();
  const section = await readTopSection();
  const { release, files } = await readFrozen();
  const todo: string[] = [];
  if (section.version !== version || section.date === undefined || release !== version)
    todo.push(`Date and freeze ${version}: npm run release -- prepare ${version}`);
  todo.push(...frozenProblems(await freezable(), files));
  if (isUnset(await readOwner())) todo.push('Say whose it is: npm run owner -- REPOSITORY MAIL');
  if (git('status', '--porcelain') !== '') todo.push('Commit: the working tree has changes.');
  if (!git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`))
    todo.push(`Tag it: git tag v${version}`);
  return todo;
}
