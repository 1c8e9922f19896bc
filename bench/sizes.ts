/** The sizes of all measurements. */

/** Counts, unless the name says seconds. */
export interface Sizes {
  /** Orders of a flat-out round. */
  readonly orders: number;
  /** How long a steady round lasts. */
  readonly steadySeconds: number;
  /** Workflows of the floor. */
  readonly workflows: number;
  /** Deliveries of a drain. */
  readonly backlog: number;
  /** How long a trial of neighbors lasts. */
  readonly trialSeconds: number;
  /** The troubles: lines of an import, open deliveries of a webhook switched off, webhooks that never answer. */
  readonly troubleLines: number;
  readonly troubleOpen: number;
  readonly troubleWebhooks: number;
  /** Pre-orders that are due at the same time. */
  readonly troublePreOrders: number;
  /** Lines of an import with one webhook. */
  readonly importLines: number;
  /** Deliveries that wait for their workflow at a restart. */
  readonly pending: number;
  /** Deliveries that fail together. */
  readonly failTogether: number;
}

const full: Sizes = {
  orders: 3_000,
  steadySeconds: 20,
  workflows: 2_000,
  backlog: 100_000,
  trialSeconds: 60,
  troubleLines: 1_500,
  troubleOpen: 1_500,
  troubleWebhooks: 100,
  troublePreOrders: 500,
  importLines: 100_000,
  pending: 5_000,
  failTogether: 2_000,
};

const quick: Sizes = {
  orders: 60,
  steadySeconds: 2,
  workflows: 40,
  backlog: 300,
  trialSeconds: 3,
  troubleLines: 60,
  troubleOpen: 20,
  troubleWebhooks: 10,
  troublePreOrders: 10,
  importLines: 200,
  pending: 100,
  failTogether: 20,
};

/**
 * The sizes of a run: as small as possible, to prove that everything runs, or full, or a share of that.
 * @param scale 0 < scale <= 1, of the full sizes
 */
export function sizesOf(how: { readonly quick: boolean; readonly scale: number }): Sizes {
  if (how.quick) return quick;
  const scaled = (name: keyof Sizes) => Math.max(quick[name], Math.round(full[name] * how.scale));
  return {
    orders: scaled('orders'),
    steadySeconds: scaled('steadySeconds'),
    workflows: scaled('workflows'),
    backlog: scaled('backlog'),
    trialSeconds: scaled('trialSeconds'),
    troubleLines: scaled('troubleLines'),
    troubleOpen: scaled('troubleOpen'),
    troubleWebhooks: scaled('troubleWebhooks'),
    troublePreOrders: scaled('troublePreOrders'),
    importLines: scaled('importLines'),
    pending: scaled('pending'),
    failTogether: scaled('failTogether'),
  };
}
