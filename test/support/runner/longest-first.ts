import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files take up to two minutes each, mostly waiting. */
const long = ['/test/faults/', '/test/e2e/'];
/** Folders whose files take up to one minute. */
const shorter = [
  '/test/workflow/',
  '/test/console/',
  '/test/cli/',
  '/test/receiver/',
  '/test/documentation/',
];

/**
 * Starts with the many quick files, where most failures show; then the others, slowest folders first. Vitest without
 * recorded durations goes by size, and a short file with a long test would run alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const within = (folders: readonly string[]) => folders.some((folder) => moduleId.includes(folder));
  if (within(long)) return 1;
  return within(shorter) ? 2 : 0;
}
