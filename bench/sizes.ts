/** The sizes of all measurements: counts, unless the name says seconds. */

const full = {
  /** Orders of a flat-out round. */
  orders: 3_000,
  /** How long a steady round lasts. */
  steadySeconds: 20,
  /** Workflows of the floor. */
  workflows: 2_000,
  /** Deliveries of a drain. */
  backlog: 100_000,
  /** How long a trial of neighbors lasts. */
  trialSeconds: 60,
  /** The scenarios: lines of an import, open deliveries of a webhook switched off, webhooks that never answer. */
  scenarioLines: 1_500,
  scenarioOpen: 1_500,
  scenarioWebhooks: 100,
  /** Pre-orders that are due at the same time. */
  scenarioPreOrders: 500,
  /** Lines of an import with one webhook. */
  importLines: 100_000,
  /** Deliveries that wait for their workflow at a restart. */
  pending: 5_000,
  /** Deliveries that fail together. */
  failTogether: 2_000,
};

/** The sizes of a run. */
export type Sizes = Readonly<typeof full>;

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
  return how.quick ? quick : scaled(full, quick, how.scale);
}

function scaled<Name extends string>(
  sizes: Readonly<Record<Name, number>>,
  least: Readonly<Record<Name, number>>,
  scale: number,
): Record<Name, number> {
  const made: Record<Name, number> = { ...sizes };
  for (const name in sizes) made[name] = Math.max(least[name], Math.round(sizes[name] * scale));
  return made;
}
