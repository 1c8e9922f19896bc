/** Notices, in this process's memory, records that the API changes in a loop. */
import { type ChangeLoop, LOOP_CHANGES_PER_MINUTE } from '../../domain/change-loop.ts';
import type { EntityKind } from '../../domain/event-types.ts';
import { onceAMinute } from '../../lib/once-a-minute.ts';
import { setNewest } from '../../lib/set-newest.ts';
import type { ApiDeps } from '../deps.ts';

const MINUTE_MS = 60_000;
/**
 * The most records remembered. Too low: a loop is forgotten between two of its changes. Too high: more memory, some
 * 100 bytes each.
 */
const MAX_RECORDS = 10_000;

/** @param now on a clock that does not jump, in milliseconds */
export function createChangeLoops({
  log,
  onChangeLoop,
  now = () => performance.now(),
}: Pick<ApiDeps, 'log' | 'onChangeLoop'> & { readonly now?: () => number }) {
  /** The least recently changed record comes first. */
  const records = new Map<string, { readonly since: number; changes: number }>();
  const leftOut = onceAMinute(now);

  function noticed(loop: ChangeLoop): void {
    onChangeLoop?.(loop);
    const others = leftOut('loop');
    if (others === null) return;
    // Identifiers of records are not logged: `waybill status` shows them.
    const more = others === 0 ? {} : { others };
    log.warn({ ...loop, ...more }, `one ${loop.kind} changed ${loop.changes} times in a minute by the API`);
  }

  return {
    /**
     * Notes a change that was committed.
     * @returns how often the record was changed within a minute, if that is a loop; else null
     */
    changed(eshopId: number, kind: EntityKind, entityId: string): number | null {
      const key = `${eshopId}/${kind}/${entityId}`;
      const at = now();
      const current = records.get(key);
      const record =
        current === undefined || at - current.since >= MINUTE_MS ? { since: at, changes: 0 } : current;
      record.changes += 1;
      setNewest(records, key, record, MAX_RECORDS);
      const { changes } = record;
      if (changes === LOOP_CHANGES_PER_MINUTE) noticed({ eshopId, kind, changes });
      return changes < LOOP_CHANGES_PER_MINUTE ? null : changes;
    },
  };
}

export type ChangeLoops = ReturnType<typeof createChangeLoops>;
