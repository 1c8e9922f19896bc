/** An examination of a webhook's receiver (docs/interface.md, W17): test requests, some of which it must refuse. */
import * as v from 'valibot';
import { component, described, wholeNumber } from './fields.ts';
import type { WebhookWithSecrets } from './test-delivery.ts';

export const examinationSchema = component('Examination', {
  rows: v.pipe(
    v.array(
      component('ExaminationRow', {
        name: described(v.string(), 'What is checked.'),
        sent: described(v.string(), 'What was sent, in words.'),
        received: described(
          v.string(),
          'What came back: the status, or why there is none. Several different ones are separated by semicolons.',
        ),
        verdict: described(
          v.picklist(['ok', 'warning', 'fail']),
          '`fail`: the receiver accepts an invalid request, or refuses a valid one. `warning`: something that will cause trouble.',
        ),
        remedy: described(
          v.nullable(v.string()),
          'How to fix it, in one sentence. Null if nothing is wrong.',
        ),
      }),
    ),
    v.readonly(),
  ),
  answerMs: described(
    v.nullable(wholeNumber()),
    'The slowest response to a valid request, in milliseconds; null if none arrived.',
  ),
  complete: described(
    v.boolean(),
    'False if the examination ended early: the receiver did not respond, or not in time.',
  ),
});
export type Examination = v.InferOutput<typeof examinationSchema>;

/** The maximum number of examinations of a webhook that may begin in an hour. */
export const EXAMINATIONS_PER_HOUR = 10;

/**
 * Examines the receiver of a webhook. Changes no state, incident or limit.
 * @param signal ends it early
 * @throws Problem (503) if the service itself failed, which says nothing about the receiver
 * @throws Error if a secret cannot be opened; the reason of `signal`
 */
export type Examine = (webhook: WebhookWithSecrets, signal?: AbortSignal) => Promise<Examination>;
