/** Short names for the commands of a history and of the code. */
import { defaultPayloadConverter } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import * as v from 'valibot';

type HistoryEvent = NonNullable<History['events']>[number];

const patchSchema = v.object({ id: v.string() });
/** The SDK's core records `patched()` as a marker of this name, with its id in these details. */
const PATCH_MARKER = 'core_patch';
const PATCH_DETAILS = 'patch-data';

function patchOf(marker: NonNullable<HistoryEvent['markerRecordedEventAttributes']>): string {
  const payload = marker.details?.[PATCH_DETAILS]?.payloads?.[0];
  const patch = v.safeParse(patchSchema, payload ? defaultPayloadConverter.fromPayload(payload) : undefined);
  return patch.success ? `patched('${patch.output.id}')` : 'patched()';
}

/** "ActivityTaskCancelRequested", for an event without a short name. */
function kindOf(event: HistoryEvent): string {
  const attributes = Object.keys(event).find((key) => key.endsWith('EventAttributes')) ?? 'event';
  const kind = attributes.replace(/EventAttributes$/, '');
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
}

/** The command that led to an event: "activity attemptDelivery", "timer", "patched('fresh-situation')". */
export function commandBehind(event: HistoryEvent): string {
  const activity = event.activityTaskScheduledEventAttributes;
  if (activity) return `activity ${activity.activityType?.name ?? ''}`;
  if (event.timerStartedEventAttributes) return 'timer';
  const marker = event.markerRecordedEventAttributes;
  if (marker) return marker.markerName === PATCH_MARKER ? patchOf(marker) : `marker ${marker.markerName}`;
  if (event.upsertWorkflowSearchAttributesEventAttributes) return 'search attributes';
  if (event.workflowPropertiesModifiedEventAttributes) return 'memo';
  if (event.workflowExecutionCompletedEventAttributes) return 'end: completed';
  if (event.workflowExecutionFailedEventAttributes) return 'end: failed';
  if (event.workflowExecutionCanceledEventAttributes) return 'end: canceled';
  if (event.workflowExecutionContinuedAsNewEventAttributes) return 'end: continued as new';
  return kindOf(event);
}

/** The names of the parts of the SDK's core that handle commands. */
const MACHINES: Readonly<Record<string, string>> = {
  'Activity machine': 'activity',
  'Timer machine': 'timer',
  'Change machine': 'patched()',
  'Complete workflow machine': 'end: completed',
  'Fail workflow machine': 'end: failed',
  'Cancel workflow machine': 'end: canceled',
  'Continue as new workflow machine': 'end: continued as new',
  UpsertWorkflowSearchAttributesMachine: 'search attributes',
  ModifyWorkflowPropertiesMachine: 'memo',
};

/** The maximum length of a message without a short name. */
const MAX_MESSAGE_CHARS = 300;

/** The core's own message within that of a replay's error. */
export function messageOf(error: Error): string {
  const [, quoted] = /Failure \{ message: "((?:[^"\\]|\\.)*)"/s.exec(error.message) ?? [];
  const message = (quoted ?? error.message).replace(/^\[\w+\] Nondeterminism error: /, '');
  return message
    .replaceAll(/\\(["'\\])/g, '$1')
    .replaceAll('\\n', ' ')
    .slice(0, MAX_MESSAGE_CHARS);
}

/** The command of the code instead: "activity readDelivery", "timer", "nothing"; the error if it throws one. */
export function commandFound(error: Error): string {
  const message = messageOf(error);
  const [, type] = /match activity type of activity command '(.*)'$/.exec(message) ?? [];
  if (type !== undefined) return `activity ${type}`;
  const [, is, would] =
    /^Activity id of scheduled event '(.*)' .* activity id of activity command '(.*)'$/.exec(message) ?? [];
  if (would !== undefined) return `activity number ${would}, not ${is}`;
  if (/^No command scheduled for event|there is no corresponding change command/.test(message)) {
    return 'nothing';
  }
  const [, machine = ''] = /^(.*?) does not handle /.exec(message) ?? [];
  return MACHINES[machine] ?? message;
}
