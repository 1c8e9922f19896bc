import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The folders whose files take up to two minutes each, most of it waiting. */
const long = ['/test/faults/', '/test/e2e/'];

/**
 * Starts the files of the slowest folders first, the rest in Vitest's own order: on a machine that has not run them
 * yet Vitest goes by size, and a short file with a long test would run alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  return long.some((folder) => moduleId.includes(folder)) ? 0 : 1;
}
