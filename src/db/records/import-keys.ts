/**
 * The keys of imported lines, written in the transaction that applies the line: a line is applied once however often
 * it is sent, and a failed one can be sent again.
 */
import { createHash } from 'node:crypto';
import { conflict } from '../../domain/problem.ts';
import { Staged } from './staged.ts';
import { participantOf } from './unit-of-work.ts';

/** How long a key is remembered, in days. */
export const IMPORT_KEY_DAYS = 30;

export interface KeyedLine {
  readonly key: string;
  /** From {@link fingerprintOf}. */
  readonly fingerprint: string;
}

/** The fingerprint of a line, to be compared with that of the key's first use: SHA-256 in hexadecimal. */
export function fingerprintOf(line: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(line)).digest('hex');
}

/** The keys that a unit of work has taken. */
export const importKeysOf = participantOf(({ tx, eshopId }) => {
  /** The fingerprint of each key's line; null for a key not used yet. */
  const lines = new Staged<string | null>();
  /** Keys inserted by this transaction, with the fingerprints in its rows. */
  const insertedKeys = new Map<string, string>();
  return {
    staged: [lines],

    /** Takes the keys of lines, waiting for other transactions that took them; an expired key is taken again. */
    async take(keyed: readonly KeyedLine[]): Promise<void> {
      const fingerprints = new Map([...keyed].reverse().map(({ key, fingerprint }) => [key, fingerprint]));
      if (fingerprints.size === 0) return;
      const inserted = await tx<{ key: string }[]>`
        insert into import_keys (eshop_id, key, fingerprint)
        select ${eshopId}::int, key, decode(fingerprint, 'hex')
        from unnest(${[...fingerprints.keys()]}::text[], ${[...fingerprints.values()]}::text[]) as line (key, fingerprint)
        order by key on conflict (eshop_id, key) do update
        set fingerprint = excluded.fingerprint, created_at = excluded.created_at
        where import_keys.created_at < now() - make_interval(days => ${IMPORT_KEY_DAYS})
        returning key`;
      for (const { key } of inserted) {
        insertedKeys.set(key, fingerprints.get(key) ?? '');
        lines.load(key, null);
      }
      const stored = lines.missing(fingerprints.keys());
      if (stored.length === 0) return;
      const rows = await tx<KeyedLine[]>`
        select key, encode(fingerprint, 'hex') as fingerprint from import_keys
        where eshop_id = ${eshopId} and key = any(${stored}::text[])`;
      for (const { key, fingerprint } of rows) lines.load(key, fingerprint);
    },

    /**
     * Stages the use of a key that was taken.
     * @returns false if this very line was applied before
     * @throws Problem 409 if the key was used for another line
     */
    use({ key, fingerprint }: KeyedLine): boolean {
      const line = lines.get(key);
      if (line === fingerprint) return false;
      if (line !== null) throw conflict(`The idempotencyKey "${key}" was already used for a different line.`);
      lines.set(key, fingerprint);
      return true;
    },

    async write(): Promise<void> {
      const used = new Map(lines.changes().map(({ key, after }) => [key, after]));
      const wrong = [...insertedKeys].filter(([key, fingerprint]) => used.get(key) !== fingerprint);
      if (wrong.length === 0) return;
      const free = wrong.filter(([key]) => !used.has(key)).map(([key]) => key);
      const mismatched = wrong.filter(([key]) => used.has(key)).map(([key]) => key);
      await Promise.all([
        tx`delete from import_keys where eshop_id = ${eshopId} and key = any(${free}::text[])`,
        tx`
          update import_keys k set fingerprint = decode(line.fingerprint, 'hex')
          from unnest(${mismatched}::text[], ${mismatched.map((key) => used.get(key) ?? '')}::text[]) as line (key, fingerprint)
          where k.eshop_id = ${eshopId} and k.key = line.key`,
      ]);
    },
  };
});
