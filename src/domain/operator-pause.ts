/** A workflow that an operator has paused in Temporal: it does nothing until it is unpaused there. Pure. */

export interface TemporalPause {
  readonly workflowId: string;
  /**
   * The client that paused it, as named by Temporal, such as `temporal-cli:anna@laptop`; with the reason, if it
   * gave one.
   */
  readonly by: string;
  readonly since: Date;
}

/** "by temporal-cli:anna@laptop: stock-taking, since 2026-11-29T10:00:00.000Z" */
export function pauseAttribution({ by, since }: TemporalPause): string {
  return `by ${by}, since ${since.toISOString()}`;
}
