/** What people read of Waybill and may paste into a terminal: documents, console, commands, kit, our scripts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../..');

/** Folders of files that nobody reads, or that only tests run. */
const ASIDE = ['node_modules', 'dist', 'test', 'bench', 'faults', 'mutants'];
const TEXT = /(?:^|[/])(?:Dockerfile|[^/]+\.(?:md|tsx?|js|ya?ml|html|py|php|go|java|rb))$/;

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (/^(?:dist)?\./.test(entry.name) || ASIDE.includes(entry.name)) return [];
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && TEXT.test(path) ? [path] : [];
  });
}

interface ShownText {
  /** Its path from the root. */
  readonly file: string;
  readonly text: string;
}

export function shownTexts(): readonly ShownText[] {
  return filesBelow('').map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
}
