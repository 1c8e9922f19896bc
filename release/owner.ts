/**
 * Sets where the project lives and who hears of its security holes, in `package.json` and the texts that repeat it:
 *
 *     npm run owner -- https://github.com/acme/waybill security@acme.example
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';

const ROOT = new URL('../', import.meta.url);
/** Every file with one of them; `test/repository/owner.test.ts` finds others. */
export const OWNED = ['package.json', 'receiver/package.json', 'SECURITY.md'] as const;
/** What stands there until an owner sets it. */
const UNSET = { repository: 'https://github.com/OWNER/waybill', security: 'security@owner.example' };

const Owner = v.object({
  repository: v.pipe(
    v.string(),
    v.regex(
      /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/,
      'The repository is like https://github.com/acme/waybill.',
    ),
  ),
  security: v.pipe(
    v.string(),
    v.email('The second argument is a mail address, for reports of security holes.'),
  ),
});
export type Owner = v.InferOutput<typeof Owner>;

const Manifest = v.object({
  repository: v.object({ url: v.string() }),
  bugs: v.object({ email: v.string() }),
});

/** As `package.json` names it. */
export async function readOwner(): Promise<Owner> {
  const text = await readFile(new URL('package.json', ROOT), 'utf8');
  const { repository, bugs } = v.parse(Manifest, JSON.parse(text));
  const { url } = repository;
  return v.parse(Owner, {
    repository: url.replace(/^git\+/, '').replace(/\.git$/, ''),
    security: bugs.email,
  });
}

/** Where `.github/workflows/release.yml` publishes the image, without a tag: such names are in lower case. */
export function imageOf({ repository }: Pick<Owner, 'repository'>): string {
  return repository.replace('https://github.com/', 'ghcr.io/').toLowerCase();
}

/** Nobody has set it yet: nothing can be published, and nobody would hear of a hole. */
export function isUnset({ repository, security }: Owner): boolean {
  return repository === UNSET.repository || security === UNSET.security;
}

/** The text with another owner. */
export function withOwner(text: string, from: Owner, to: Owner): string {
  return text.replaceAll(from.repository, to.repository).replaceAll(from.security, to.security);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [repository, security] = process.argv.slice(2);
  const wanted = v.safeParse(Owner, { repository, security });
  if (!wanted.success) {
    console.error(wanted.issues[0].message);
    process.exit(2);
  }
  const from = await readOwner();
  for (const path of OWNED) {
    const url = new URL(path, ROOT);
    await writeFile(url, withOwner(await readFile(url, 'utf8'), from, wanted.output));
  }
  console.log(`Set in ${OWNED.join(', ')}.`);
}
