/** The data exchanged by the release of a pre-order and its activities. */

export interface ReleasePreOrderInput {
  readonly eshopId: number;
  readonly eshopOrderId: string;
}

/** When a pre-order will be released; null once it is no longer a pre-order. Milliseconds since 1970. */
interface PendingRelease {
  /** Null: the order is released only by hand. */
  readonly releaseAt: number | null;
  /** When the release time was read, by the database's clock. */
  readonly readAt: number;
}

/** Activities of the release; made by `createReleaseActivities`. */
export interface ReleaseActivities {
  readRelease(input: ReleasePreOrderInput): Promise<PendingRelease | null>;
  /** preOrder → preReceived. @returns false if the time has not come, or the order is no longer a pre-order */
  releaseOrder(input: ReleasePreOrderInput): Promise<boolean>;
}

/** Signal: the release time or the status of the order changed. The signal carries no command. */
export const releaseChangedSignal = 'releaseChanged';

/** `release/<e-shop id>/<eshopOrderId>` */
export function releaseWorkflowId(eshopId: number, eshopOrderId: string): string {
  return `release/${eshopId}/${eshopOrderId}`;
}
