/** The outcome of a batch so far. */
export interface BatchResult {
  readonly delivered: number;
  /** Waiting for their next attempt in the queue, or for workflows of their own. */
  readonly requeued: number;
  /** In the queue again under the same number: their receivers had as much under way as they take. */
  readonly deferred: number;
  /** Not attempted yet, or without a result. */
  readonly left: number;
}
