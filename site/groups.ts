import type { OpenApiDocument } from '../src/api/openapi/document.ts';
import type { LocatedOperation } from './operation-view.tsx';

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly LocatedOperation[];
}

/** All groups: the described ones in order, then any others that operations name. */
export function groupsOf({ paths, tags }: OpenApiDocument): Group[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const known = tags.map(({ name }) => name);
  const used = new Set(all.flatMap(({ operation }) => operation.tags ?? []));
  const others = [...used].filter((name) => !known.includes(name));
  return [...tags, ...others.map((name) => ({ name, description: '' }))].map((group) => ({
    ...group,
    operations: all.filter(({ operation }) => operation.tags?.includes(group.name) === true),
  }));
}
