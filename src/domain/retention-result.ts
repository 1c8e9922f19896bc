/** What a run of the retention did. */
export interface Retained {
  /** Weeks that have partitions now, by their first days. */
  readonly made: readonly string[];
  readonly dropped: readonly { readonly partition: string; readonly rows: number }[];
  /** Partitions that stay although they are past their time: deliveries need them that are open, or not yet mailed. */
  readonly kept: readonly { readonly partition: string; readonly neededBy: number }[];
  /** Rows removed from partitions that stay. */
  readonly removed: { readonly deliveries: number; readonly events: number };
  /** What was kept beside deliveries and events, and is not needed any more. */
  readonly forgotten: {
    /** Keys of imported lines. */
    readonly importKeys: number;
    /** Rows of batches, redeliveries and recoveries, and of what webhooks once were. */
    readonly rows: number;
    /** Secrets of webhooks that were deleted; each webhook counts once. */
    readonly erased: number;
    /** Webhooks that were deleted, and that nothing refers to any more. */
    readonly webhooks: number;
  };
  /** Rows of an id that belongs to no week there is: a clock is, or was, far off. */
  readonly astray: number;
  /** What was left to the next run, since the tables were in use. */
  readonly postponed: readonly string[];
}
