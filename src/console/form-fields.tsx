/** The fields of forms, each with its hint and its problem. */
import { createContext, type JSX, useContext } from 'hono/jsx';
import type { EventType } from '../domain/event-types.ts';
import type { Query } from './api-client.ts';
import { ProblemsOfForm } from './problems.ts';

/** The values that the fields of a form show, by their names; a box is ticked if its value is `true`. */
export const ValuesOfForm = createContext<Query>({});

/** The choice of one of a webhook's types, for a test; null if it has only one. @param value the one chosen before */
export function TypeChoice({ types, value }: { types: readonly EventType[]; value?: string | undefined }) {
  if (types.length === 1) return null;
  return (
    <select name="type" aria-label="Type of the sample">
      {types.map((type) => (
        <option value={type} selected={type === value}>
          {type}
        </option>
      ))}
    </select>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
}

/** Attributes of a field's control: its hint and its problem describe it. */
function described(name: string, hint: string | undefined) {
  const invalid = useContext(ProblemsOfForm)[name] !== undefined;
  const by = [...(invalid ? [`${name}-problem`] : []), ...(hint === undefined ? [] : [`${name}-hint`])].join(
    ' ',
  );
  return {
    ...(by === '' ? {} : { 'aria-describedby': by }),
    ...(invalid ? { 'aria-invalid': 'true' as const } : {}),
  };
}

/** The problem and the hint of a field. */
export function Below({ name, hint }: { name: string; hint?: string | undefined }) {
  const problem = useContext(ProblemsOfForm)[name];
  return (
    <>
      {problem === undefined ? null : (
        <span class="problem" id={`${name}-problem`}>
          {problem}
        </span>
      )}
      {hint === undefined ? null : (
        <span class="quiet" id={`${name}-hint`}>
          {hint}
        </span>
      )}
    </>
  );
}

export function Select(props: FieldProps & { options: readonly (readonly [string, string])[] }) {
  const { name, label, options, hint } = props;
  const value = useContext(ValuesOfForm)[name] ?? '';
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} {...described(name, hint)}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
      <Below name={name} hint={hint} />
    </div>
  );
}

/** No `maxlength`: browsers count differently from the API, which refuses a text that is too long. */
export function TextArea({ name, label, hint }: FieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea id={name} name={name} rows={2} {...described(name, hint)}>
        {/* HTML ignores the first line break. */}
        {`\n${useContext(ValuesOfForm)[name] ?? ''}`}
      </textarea>
      <Below name={name} hint={hint} />
    </div>
  );
}

/** @param props.value replaces the form's */
export function Input(props: JSX.IntrinsicElements['input'] & FieldProps) {
  const { name, label, hint, type = 'text', value: own, ...rest } = props;
  const value = own ?? useContext(ValuesOfForm)[name] ?? '';
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input id={name} name={name} type={type} value={value} {...described(name, hint)} {...rest} />
      <Below name={name} hint={hint} />
    </div>
  );
}

export function Check({ name, label, hint }: FieldProps) {
  const checked = useContext(ValuesOfForm)[name] === 'true';
  return (
    <label class="check">
      <input type="checkbox" name={name} value="true" checked={checked} {...described(name, undefined)} />
      <span>
        {label}
        {hint === undefined ? null : (
          <>
            <br />
            <span class="quiet small">{hint}</span>
          </>
        )}
        <Below name={name} />
      </span>
    </label>
  );
}
