/** The workflows that should be running, each with the possible repairs. */
import { validate as isUuid } from 'uuid';
import { deliveryWorkflowId } from '../../workflows/delivery-id.ts';
import { recoveryWorkflowId } from '../../workflows/recovery-types.ts';
import { releaseWorkflowId } from '../../workflows/release-types.ts';
import { latenessMs } from '../attempt/lateness.ts';
import type { DeliveryWatch } from '../attempt/watch.ts';
import { exactDatabaseTime } from '../db/clock.ts';
import type { Pool } from '../db/connection/pool.ts';
import { closeDelivery } from '../db/deliveries/deliveries.ts';
import { findRecoveries } from '../db/outbox/recovery-changes.ts';
import * as db from '../db/reconciliation.ts';
import * as recoveries from '../db/recoveries/reconciliation.ts';
import { controlRecovery } from '../db/recoveries/recoveries.ts';
import type { Restarter } from '../temporal/dispatcher.ts';
import type { Former } from '../temporal/workflow-calls.ts';
import type { Due, TrackedKind } from './verdict.ts';

export interface TrackedWorkflow {
  readonly kind: TrackedKind;
  readonly workflowId: string;
  /** The workflow's identifiers in log lines. */
  readonly name: Readonly<Record<string, string | number>>;
  readonly next: Due;
  /** Ask this after asking Temporal: a workflow that ended in between has recorded its end in the database. */
  isStillTracked(): Promise<boolean>;
  /** @returns false if another worker was first */
  restart(former: Former): Promise<boolean>;
  /** Closes its record as canceled by an operator. @returns false if the record is no longer open */
  endedByOperator(): Promise<boolean>;
  wake(): Promise<void>;
}

/** How many records a query reads. */
const PAGE = 100;

/** How far the pages of one list have got. */
interface ListPlace<R> {
  /** The last row of the last page; null before the first. */
  after: R | null;
  isDone: boolean;
}
const listPlace = <R>(): ListPlace<R> => ({ after: null, isDone: false });

/** How far a sweep over all workflows has got. */
export type SweepPlace = ReturnType<typeof startOfSweep>;

export const startOfSweep = () => ({
  /** A sweep is under way, or was interrupted. */
  isBegun: false,
  deliveries: listPlace<db.DispatchedDelivery & db.DeliveryCursor>(),
  mails: listPlace<db.UnsentMail>(),
  releases: listPlace<db.PendingRelease>(),
  recoveries: listPlace<recoveries.RecoveryToTrack>(),
});

export interface TrackedWorkflowsDeps {
  readonly sql: Pool;
  readonly restarter: Restarter;
  /** How long a workflow may be past its next step before it counts as late, in milliseconds. */
  readonly graceMs: number;
  readonly watch: Pick<DeliveryWatch, 'ended'>;
}

export function createTrackedWorkflows({ sql, restarter, graceMs, watch }: TrackedWorkflowsDeps) {
  /** Where the next check of late pre-orders begins: rows of pre-orders do not record that they were checked. */
  let lateReleases: db.ReleaseCursor | null = null;

  /** The parts that all workflows of deliveries share. */
  function ofDelivery(found: db.AttemptedDelivery) {
    return {
      workflowId: deliveryWorkflowId(found),
      restart: (former: Former) => restarter.restart(found, former),
      endedByOperator: async () => false,
      wake: () => restarter.signalWebhookChanged(found),
    };
  }

  function delivery(found: db.DispatchedDelivery): TrackedWorkflow {
    const { id } = found;
    return {
      ...ofDelivery(found),
      kind: 'delivery',
      name: { deliveryId: id, attemptsMade: found.attemptsMade },
      next: dueOf(found, graceMs),
      isStillTracked: async () => (await db.findDispatched(sql, [id])).length > 0,
      async restart(former) {
        // The delivery is read again: an attempt may have been recorded since.
        const [now] = await db.findDispatched(sql, [id]);
        return now !== undefined && (await restarter.restart(now, former));
      },
      async endedByOperator() {
        const { closed } = await closeDelivery(sql, id, 'canceled');
        if (closed !== null) watch.ended(closed, 'canceled');
        return closed !== null;
      },
    };
  }

  /**
   * A delivery that is over. If its workflow still waits, Temporal was set back, and the workflow has lost the end of
   * the delivery. Once it is woken or started again, it reads that the delivery is over, and ends.
   */
  function closed(found: db.AttemptedDelivery): TrackedWorkflow {
    return {
      ...ofDelivery(found),
      kind: 'delivery',
      name: { deliveryId: found.id },
      next: 'over',
      isStillTracked: async () => true,
    };
  }

  /** A mail about a deactivation: the workflow of the delivery that led to the deactivation sends it. */
  function mail(found: db.UnsentMail): TrackedWorkflow {
    return {
      ...ofDelivery(found),
      kind: 'mail',
      name: { webhookId: found.webhookId, deliveryId: found.id },
      // The mail is due since the deactivation: a workflow that waits for anything else has lost it.
      next: 'late',
      isStillTracked: () => db.isMailUnsent(sql, found),
    };
  }

  function release({ eshopId, eshopOrderId, late }: db.PendingRelease): TrackedWorkflow {
    return {
      kind: 'release',
      workflowId: releaseWorkflowId(eshopId, eshopOrderId),
      name: { eshopId, eshopOrderId },
      next: late ? 'late' : 'ahead',
      isStillTracked: () => db.isReleasePending(sql, eshopId, eshopOrderId),
      restart: (former) => restarter.restartRelease(eshopId, eshopOrderId, former),
      endedByOperator: async () => false,
      wake: () => restarter.signalReleaseChanged(eshopId, eshopOrderId),
    };
  }

  function recovery({ id, late }: recoveries.RecoveryToTrack): TrackedWorkflow {
    return {
      kind: 'recovery',
      workflowId: recoveryWorkflowId(id),
      name: { recoveryId: id },
      next: late ? 'late' : 'ahead',
      isStillTracked: async () => (await findRecoveries(sql, [id])).length > 0,
      async restart(former) {
        const [now] = await findRecoveries(sql, [id]);
        return now !== undefined && (await restarter.restartRecovery(now, former));
      },
      endedByOperator: () => controlRecovery(sql, id, 'cancel', { by: 'operator' }),
      async wake() {
        for (const now of await findRecoveries(sql, [id])) await restarter.signalRecoveryChanged(now);
      },
    };
  }

  async function nextLateReleases(): Promise<db.PendingRelease[]> {
    const options = { graceMs, lateOnly: true, limit: PAGE };
    const page = await db.pendingReleases(sql, { ...options, after: lateReleases });
    lateReleases = page.length < PAGE ? null : (page.at(-1) ?? null);
    return page;
  }

  return {
    /** Some of the workflows whose next step is past due; each call returns others. */
    async late(): Promise<TrackedWorkflow[]> {
      const [deliveries, mails, releases, late] = await Promise.all([
        db.claimLateDeliveries(sql, graceMs, PAGE),
        db.claimLateMails(sql, graceMs, PAGE),
        nextLateReleases(),
        recoveries.claimLateRecoveries(sql, graceMs, PAGE),
      ]);
      return [
        ...deliveries.map(delivery),
        ...mails.map(mail),
        ...releases.map(release),
        ...late.map(recovery),
      ];
    },

    /**
     * All workflows that should be running, page by page.
     * @param from where it begins; moved once the next page is asked for
     */
    async *all(from: SweepPlace): AsyncGenerator<TrackedWorkflow[]> {
      const asOf = await exactDatabaseTime(sql);
      yield* pages(
        (after) => db.dispatchedDeliveries(sql, { asOf, after, limit: PAGE }),
        delivery,
        from.deliveries,
      );
      yield* pages((after) => db.unsentMails(sql, { after, limit: PAGE }), mail, from.mails);
      const waiting = { graceMs, lateOnly: false, limit: PAGE };
      yield* pages((after) => db.pendingReleases(sql, { ...waiting, after }), release, from.releases);
      yield* pages(
        (after) => recoveries.trackedRecoveries(sql, { after, limit: PAGE }),
        recovery,
        from.recoveries,
      );
    },

    /** The open deliveries and recoveries with these workflow ids. */
    async withWorkflows(workflowIds: readonly string[]): Promise<TrackedWorkflow[]> {
      const ids = idsIn(workflowIds);
      const deliveries = await db.findDispatched(sql, ids);
      const found = await findRecoveries(sql, ids);
      return [...deliveries.map(delivery), ...found.map(({ id }) => recovery({ id, late: true }))];
    },

    /** The closed deliveries with these workflow ids: a workflow that still waits has to be woken. */
    async closedOf(workflowIds: readonly string[]): Promise<TrackedWorkflow[]> {
      return (await db.findClosed(sql, idsIn(workflowIds))).map(closed);
    },
  };
}

/** The ids of deliveries and recoveries: the last part of their workflows' ids. */
function idsIn(workflowIds: readonly string[]): string[] {
  return workflowIds
    .map((workflowId) => workflowId.slice(workflowId.lastIndexOf('/') + 1))
    .filter((id) => isUuid(id));
}

/** When a delivery is due. It is late if its next step is past due by more than the grace, and nothing holds it. */
function dueOf(delivery: db.DispatchedDelivery, graceMs: number): Due {
  const { dispatchedAt, lastAttemptAt, nextAttemptAt, held, readAt } = delivery;
  if (held) return 'held';
  const lateByMs = latenessMs([dispatchedAt, lastAttemptAt, nextAttemptAt], readAt);
  return lateByMs !== null && lateByMs > graceMs ? 'late' : 'ahead';
}

/** Reads page after page; each page begins after the last row of the page before. */
async function* pages<R>(
  read: (after: R | null) => Promise<R[]>,
  toRecord: (row: R) => TrackedWorkflow,
  place: ListPlace<R>,
): AsyncGenerator<TrackedWorkflow[]> {
  while (!place.isDone) {
    const rows = await read(place.after);
    if (rows.length > 0) yield rows.map(toRecord);
    place.after = rows.at(-1) ?? place.after;
    place.isDone = rows.length < PAGE;
  }
}
