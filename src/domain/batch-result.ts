/** The result of a batch so far. */
export interface BatchResult {
  readonly delivered: number;
  /** In the queue, for their next attempt or for their own workflow. */
  readonly requeued: number;
  /** In the queue again under the same number: they got no permit. */
  readonly deferred: number;
  /** Not attempted yet, or result not known. */
  readonly left: number;
}
