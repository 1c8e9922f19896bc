/** Settings on a database or a role that were made for some other program. */
import { type Fault, type Scene, usual } from '../fault.ts';
import { killing } from './kill.ts';
import { endConnections } from './postgres.ts';

const SETTINGS: Readonly<Record<string, string>> = {
  bytea_output: 'escape',
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Pacific/Chatham',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  search_path: '"$user", public, pg_catalog',
};

/** Sets them for every new connection, or resets them, and ends the present connections. */
async function change({ stack: { sql } }: Scene, of: 'database' | 'role', how: 'set' | 'reset') {
  const [names] = await sql<{ database: string; role: string }[]>`
    select quote_ident(current_database()) as database, quote_ident(current_user) as role`;
  if (names === undefined) throw new Error('Postgres does not say whose settings these are.');
  for (const [name, value] of Object.entries(SETTINGS)) {
    const assignment = name === 'search_path' ? value : `'${value}'`;
    await sql.unsafe(
      `alter ${of} ${names[of]} ${how === 'set' ? `set ${name} = ${assignment}` : `reset ${name}`}`,
    );
  }
  await endConnections(sql);
}

const settingsOf = (of: 'database' | 'role'): Fault => ({
  group: 'role and database settings',
  name: `settings of the ${of}`,
  ...usual,
  ...killing(({ worker }) => [worker]),
  lasts: [0, 2_000],
  prepare: (scene) => change(scene, of, 'set'),
  finish: (scene) => change(scene, of, 'reset'),
});

export const settingFaults: readonly Fault[] = [settingsOf('database'), settingsOf('role')];
