/** Resources of a test, or of all tests of a file. They end with it, in reverse order. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Ends it with the test under way. */
export async function endsWithTest<T>(made: Promise<T>, end: (it: T) => Promise<unknown>): Promise<T> {
  const it = await made;
  onTestFinished(async () => void (await end(it)));
  return it;
}

/** Ends it after the last test of the file: for the top of a file. */
export async function endsWithFile<T>(made: Promise<T>, end: (it: T) => Promise<unknown>): Promise<T> {
  const it = await made;
  afterAll(async () => void (await end(it)));
  return it;
}

const remove = (folder: string) => rm(folder, { recursive: true, force: true });

/** A new folder for the test under way. @param name the beginning of its name */
export const folderOfTest = (name: string) => endsWithTest(mkdtemp(join(tmpdir(), name)), remove);

/** A new folder for all tests of a file. @param name the beginning of its name */
export const folderOfFile = (name: string) => endsWithFile(mkdtemp(join(tmpdir(), name)), remove);
