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
  /** The scenarios: lines of an import, open deliveries of a webhook switched off, webhooks that never answer. */
  readonly scenarioLines: number;
  readonly scenarioOpen: number;
  readonly scenarioWebhooks: number;
  /** Pre-orders that are due at the same time. */
  readonly scenarioPreOrders: number;
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
  scenarioLines: 1_500,
  scenarioOpen: 1_500,
  scenarioWebhooks: 100,
  scenarioPreOrders: 500,
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
  scenarioLines: 60,
  scenarioOpen: 20,
  scenarioWebhooks: 10,
  scenarioPreOrders: 10,
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
    scenarioLines: scaled('scenarioLines'),
    scenarioOpen: scaled('scenarioOpen'),
    scenarioWebhooks: scaled('scenarioWebhooks'),
    scenarioPreOrders: scaled('scenarioPreOrders'),
    importLines: scaled('importLines'),
    pending: scaled('pending'),
    failTogether: scaled('failTogether'),
  };
}
