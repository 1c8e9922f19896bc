/** Recovery of lost events: counted first, then started. */
import type * as v from 'valibot';
import type { recoverAnswer } from '../../api/webhooks/recovery-record.ts';
import { type Recoverable, recoverable } from '../../domain/recovery.ts';
import type { Query } from '../api-client.ts';
import { Input } from '../form-fields.tsx';
import { Form, Page } from '../layout.tsx';
import type { Rejection } from '../problems.ts';
import { CONSOLE } from '../session.ts';
import { duration, Time } from '../times.tsx';

const WORDS: Readonly<Record<Recoverable, string>> = {
  failed: 'Failed: all retries failed',
  expired: 'Expired: the delivery was held, or Waybill failed, until its window ended',
  canceled: 'Canceled: an operator ended the delivery',
  missed: 'Missed: the webhook was inactive or did not exist yet',
};

/** @param counted the result of a dry run */
export function RecoverPage(props: {
  id: string;
  name: string;
  fields: Query;
  include: readonly string[];
  counted?: v.InferOutput<typeof recoverAnswer> | undefined;
  refused?: Rejection | undefined;
}) {
  const { id, name, fields, include, counted, refused } = props;
  return (
    <Page title={`Recover ${name}`} here="/webhooks" refused={refused} fields={['since', 'until']}>
      <div class="top">
        <div>
          <h1>Recover</h1>
          <p class="quiet">
            Sends <a href={`${CONSOLE}/webhooks/${id}`}>{name}</a> the events that it did not get. Delivered
            events are not sent again.
          </p>
        </div>
      </div>
      <Form action={`/webhooks/${id}/recover`} values={fields} class="card form">
        <div class="filters">
          <Input name="since" label="Events since (UTC)" type="datetime-local" required />
          <Input name="until" label="Until (UTC; default: now)" type="datetime-local" />
        </div>
        <fieldset>
          <legend>Events to recover</legend>
          {recoverable.map((name) => (
            <label class="check">
              <input type="checkbox" name={name} value="true" checked={include.includes(name)} />
              <span>{WORDS[name]}</span>
            </label>
          ))}
        </fieldset>
        {counted === undefined ? null : (
          <div class="note good" role="status">
            <p>
              <strong>{counted.count.toLocaleString('en-US')}</strong>{' '}
              {counted.count === 1 ? 'event' : 'events'} would be recovered
              {counted.count === 0 ? '.' : `, in about ${duration(counted.estimatedDurationMs)}.`}
            </p>
            {counted.first === null || counted.last === null ? null : (
              <p>
                From <Time at={counted.first} /> to <Time at={counted.last} />.
              </p>
            )}
          </div>
        )}
        <div class="acts">
          <button type="submit" name="go" value="count" class={counted === undefined ? 'main' : 'plain'}>
            Count events
          </button>
          <button type="submit" name="go" value="begin" class={counted === undefined ? 'plain' : 'main'}>
            Recover
          </button>
        </div>
      </Form>
    </Page>
  );
}
