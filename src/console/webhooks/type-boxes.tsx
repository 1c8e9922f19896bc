/** The event types of a webhook in its form: one in a list, the others as boxes, grouped by the kind of record. */
import {
  type EventType,
  eventTypeNames,
  eventTypes,
  groupNames,
  typesAbout,
} from '../../domain/event-types.ts';
import { capital } from '../../domain/text.ts';
import type { Query } from '../api-client.ts';
import { Below, Select } from '../form-fields.tsx';

const boxOf = (type: EventType) => `also_${type}`;

/** The fields for the boxes that are ticked. */
export function tickedFields(types: readonly EventType[]): Query {
  return Object.fromEntries(types.map((type) => [boxOf(type), 'true']));
}

/** The types whose boxes are ticked. */
export function tickedTypes(fields: Query): EventType[] {
  return eventTypeNames.filter((type) => fields[boxOf(type)] === 'true');
}

/** The fields of a form in which everything about a kind of record is chosen; none for an unknown name. */
export function fieldsAbout(name: string | undefined): Query {
  const group = groupNames.find((each) => each === name);
  const [webhookType, ...others] = group === undefined ? [] : typesAbout(group);
  return webhookType === undefined ? {} : { webhookType, ...tickedFields(others) };
}

export function TypeBoxes({ fields }: { fields: Query }) {
  return (
    <>
      <Select
        name="webhookType"
        label="Event type"
        options={eventTypeNames.map((type) => [type, `${type}: ${eventTypes[type].firesWhen}`] as const)}
      />
      <fieldset>
        <legend>Further types</legend>
        <p class="quiet small">One webhook may have several: one URL, one secret, one state.</p>
        <Below name="additionalTypes" />
        {groupNames.map((name) => {
          const types = typesAbout(name);
          return (
            <details class="types" open={types.some((type) => fields[boxOf(type)] === 'true')}>
              <summary>{capital(name)}</summary>
              <p class="small">
                {/* Without scripts this loads the form again. */}
                <a href={`?about=${encodeURIComponent(name)}`} data-about={name}>
                  Everything about {name}
                </a>
              </p>
              {types.map((type) => (
                <label class="check small">
                  <input
                    type="checkbox"
                    name={boxOf(type)}
                    value="true"
                    data-about={name}
                    checked={fields[boxOf(type)] === 'true'}
                  />
                  <span>
                    {type} <span class="quiet">{eventTypes[type].firesWhen}</span>
                  </span>
                </label>
              ))}
            </details>
          );
        })}
      </fieldset>
    </>
  );
}
