/** The result of a run of the retention. */
export interface Retained {
  /** Weeks that now have partitions, by their first days. */
  readonly made: readonly string[];
  readonly dropped: readonly { readonly partition: string; readonly rows: number }[];
  /** Partitions past their time that stay: needed by deliveries that are open or whose mail is pending. */
  readonly kept: readonly { readonly partition: string; readonly neededBy: number }[];
  /** Rows removed from partitions that remain. */
  readonly removed: { readonly deliveries: number; readonly events: number };
  /** Other rows removed because nothing needs them any more. */
  readonly forgotten: {
    /** Keys of imported lines. */
    readonly importKeys: number;
    /** Rows of redeliveries, recoveries, former versions of webhooks, and stored responses. */
    readonly rows: number;
    /** Deleted webhooks whose secrets were erased; each webhook counts once. */
    readonly erased: number;
    /** Deleted webhooks to which nothing refers any more. */
    readonly webhooks: number;
  };
  /** Rows out of range: a clock is, or was, far off. */
  readonly outOfRange: number;
  /** Tables in use, left to the next run. */
  readonly postponed: readonly string[];
  /** Steps that failed, left to the next run. If there are any, the run has failed. */
  readonly failed: readonly string[];
}
