/**
 * All fields that Waybill's workflows write into a history (docs/decisions/0011: identifiers, times and counts).
 * The compiler requires each new one here; adding it asserts that it holds nothing confidential.
 */
import type {
  ActionRequest,
  DeliverEventInput,
  DeliveryActivities,
  FailedAttempt,
  NoticeResult,
} from '../../workflows/delivery-types.ts';
import type { NoticeActivities, NoticeInput } from '../../workflows/notice-types.ts';
import type { RecoverWebhookInput, RecoveryActivities } from '../../workflows/recovery-types.ts';
import type { ReleaseActivities } from '../../workflows/release-types.ts';
import type { RetentionActivities } from '../../workflows/retention-types.ts';

/** The inputs and results of activities. */
type Recorded<Activities> = {
  [Name in keyof Activities]: Activities[Name] extends (...input: infer Input) => Promise<infer Result>
    ? Input[number] | Result
    : never;
}[keyof Activities];

/** The names of all fields within a value. */
type FieldsOf<Value> = Value extends readonly (infer Item)[]
  ? FieldsOf<Item>
  : Value extends object
    ? { [Name in keyof Value & string]: Name | FieldsOf<Value[Name]> }[keyof Value & string]
    : never;

type Payloads =
  | DeliverEventInput
  | FailedAttempt
  | ActionRequest
  | RecoverWebhookInput
  | Recorded<DeliveryActivities>
  | Recorded<RecoveryActivities>
  | Recorded<ReleaseActivities>
  | Recorded<RetentionActivities>
  | NoticeInput
  | NoticeResult
  | Recorded<NoticeActivities>
  /** Of `readDelivery`, in histories from before its input had the policy. */
  | { readonly firstWaitMs: number; readonly maxAttempts: number }
  /** Of `patched()`. */
  | { readonly id: string; readonly deprecated: boolean }
  /** Of `releasePreOrder`. */
  | { readonly released: boolean };

type Field = FieldsOf<Payloads>;

const fields: Readonly<Record<Field, true>> = {
  accepted: true,
  action: true,
  actions: true,
  alarm: true,
  asked: true,
  outOfRange: true,
  at: true,
  attemptTimeoutMs: true,
  attemptsBefore: true,
  attemptsMade: true,
  by: true,
  coefficient: true,
  created: true,
  deactivatedGeneration: true,
  delivered: true,
  deliveries: true,
  deliveryId: true,
  deprecated: true,
  done: true,
  dropped: true,
  entityId: true,
  erased: true,
  eshopId: true,
  eshopOrderId: true,
  estimatedEndAt: true,
  eventType: true,
  events: true,
  exhausted: true,
  failed: true,
  firstWaitMs: true,
  forgotten: true,
  found: true,
  generation: true,
  generationChanged: true,
  id: true,
  importKeys: true,
  include: true,
  initialIntervalMs: true,
  kept: true,
  kind: true,
  lastChance: true,
  lastError: true,
  failures: true,
  left: true,
  made: true,
  maxRetries: true,
  neededBy: true,
  nextAttemptAt: true,
  noticeId: true,
  number: true,
  open: true,
  operator: true,
  operatorHeld: true,
  outcome: true,
  pausedUntil: true,
  partition: true,
  policy: true,
  postponed: true,
  rate: true,
  readAt: true,
  reason: true,
  receiverHost: true,
  recoveryId: true,
  releaseAt: true,
  released: true,
  removed: true,
  rows: true,
  maxAttempts: true,
  message: true,
  since: true,
  spent: true,
  state: true,
  status: true,
  stop: true,
  superseded: true,
  until: true,
  user: true,
  webhook: true,
  webhookId: true,
  webhooks: true,
  underWayUntil: true,
  windowEndsAt: true,
  windowMs: true,
};

export const isKnownField = (name: string): boolean => Object.hasOwn(fields, name);
