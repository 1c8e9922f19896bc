/**
 * Which file imports which, read from the syntax trees: also types, re-exports and dynamic imports.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'vite';

/** One import. */
export interface Import {
  readonly from: string;
  /** A package's name, or a path from the root. */
  readonly to: string;
  /** Erased with the types. */
  readonly typeOnly: boolean;
  /** A dynamic import. */
  readonly whileRunning: boolean;
}

/** The imports of a source. @param file its path from the root */
export function importsIn(file: string, source: string): Import[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed.`);
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean, whileRunning = false) => {
    const to = specifier.startsWith('.') ? relative('.', resolve('.', dirname(file), specifier)) : specifier;
    found.push({ from: file, to, typeOnly, whileRunning });
  };
  const addText = (node: ESTree.Expression | ESTree.TSType, typeOnly: boolean, whileRunning: boolean) => {
    if (node.type === 'Literal' && typeof node.value === 'string') add(node.value, typeOnly, whileRunning);
  };
  new Visitor({
    ImportDeclaration({ source, importKind, specifiers }) {
      const types = specifiers.filter(
        (each) => each.type === 'ImportSpecifier' && each.importKind === 'type',
      );
      add(source.value, importKind === 'type' || (types.length > 0 && types.length === specifiers.length));
    },
    ExportNamedDeclaration({ source, exportKind }) {
      if (source !== null) add(source.value, exportKind === 'type');
    },
    ExportAllDeclaration: ({ source, exportKind }) => add(source.value, exportKind === 'type'),
    ImportExpression: ({ source }) => addText(source, false, true),
    TSImportType: ({ source }) => addText(source, true, false),
  }).visit(program);
  return found;
}

/** The TypeScript files of a folder. @param root the repository */
export function filesOf(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return entries
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

const known = new Map<string, readonly Import[]>();

/** The imports of a file, which is read once. */
export function importsOf(root: string, file: string): readonly Import[] {
  const path = join(root, file);
  const found = known.get(path) ?? importsIn(file, readFileSync(path, 'utf8'));
  known.set(path, found);
  return found;
}

/**
 * The cycles of a graph: each set of nodes that all lead to each other (Tarjan's strongly connected components), in
 * alphabetical order. A node that leads to itself is a cycle too.
 */
export function cyclesIn(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const cycles: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];

  function visit(node: string): number {
    order.set(node, order.size);
    lowest.set(node, order.size - 1);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      const reached = order.has(next) ? (stack.includes(next) ? (order.get(next) ?? 0) : null) : visit(next);
      if (reached !== null) lowest.set(node, Math.min(lowest.get(node) ?? 0, reached));
    }
    if (lowest.get(node) === order.get(node)) {
      const cycle = stack.splice(stack.indexOf(node));
      if (cycle.length > 1 || edges.get(node)?.has(node) === true) cycles.push(cycle.sort());
    }
    return lowest.get(node) ?? 0;
  }

  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return cycles;
}

/** Imports as a graph of names, such as files or modules. Edges from a name to itself are left out. */
export function graphOf(
  imports: readonly Import[],
  nameOf: (file: string) => string = (file) => file,
): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [source, target] = [nameOf(from), nameOf(to)];
    if (source !== target) edges.set(source, (edges.get(source) ?? new Set()).add(target));
  }
  return edges;
}

/** All that is loaded before the first line of a file runs: files by their path from the root, packages by name. */
export function loadedWith(root: string, file: string, loaded: Set<string> = new Set()): Set<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  for (const { to, typeOnly, whileRunning } of importsOf(root, file)) {
    if (typeOnly || whileRunning) continue;
    if (/\.tsx?$/.test(to)) loadedWith(root, to, loaded);
    else loaded.add(to);
  }
  return loaded;
}
