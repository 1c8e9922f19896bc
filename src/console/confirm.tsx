/** The confirmation of an action: a separate page, so that it works without script. */
import type { Child } from 'hono/jsx';
import type { Query, Rejection } from './api-client.ts';
import { Form, Page } from './layout.tsx';
import type { FieldPaths } from './problems.ts';
import { CONSOLE } from './session.ts';

/** Paths are relative to `/console`. */
export function ConfirmPage(props: {
  here: string;
  title: string;
  button: string;
  /** Red, unless it can be undone. */
  kind?: 'main' | 'danger sure';
  action: string;
  back: string;
  refused?: Rejection | undefined;
  /** The paths of its fields, if it has any. */
  fields?: FieldPaths;
  values?: Query | undefined;
  children: Child;
}) {
  const { here, title, button, action, back, refused, fields = [], values = {}, children } = props;
  return (
    <Page {...{ title, here, refused, fields }}>
      <h1>{title}</h1>
      <Form action={action} values={values} class="card form">
        {children}
        <div class="actions">
          <button type="submit" class={props.kind ?? 'danger sure'}>
            {button}
          </button>
          <a class="button" href={`${CONSOLE}${back}`}>
            Cancel
          </a>
        </div>
      </Form>
    </Page>
  );
}
