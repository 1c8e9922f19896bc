/** The frame of every page: head, navigation, the person signed in. */
import type { Context } from 'hono';
import type { Child, JSX } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { withoutUnseen } from '../domain/text.ts';
import type { Query, Rejection } from './api-client.ts';
import { asset } from './assets.ts';
import type { ConsoleEnv, Viewer } from './deps.ts';
import { ESHOP_HEADER } from './eshops.ts';
import { ValuesOfForm } from './form-fields.tsx';
import { Sentence, type WebhookNames } from './names.tsx';
import { type FieldPaths, ProblemsOfForm, problemsIn } from './problems.ts';
import { ALL, CONSOLE } from './session.ts';
import { Switcher } from './switcher.tsx';
import { useViewer, ViewerOfPage } from './viewer.ts';

const places = [
  ['', 'Overview'],
  ['/webhooks', 'Webhooks'],
  ['/deliveries', 'Deliveries'],
  ['/events', 'Events'],
  ['/orders', 'Orders'],
  ['/products', 'Products'],
  ['/receivings', 'Receivings'],
  ['/returns', 'Returns'],
  ['/stock-movements', 'Stock'],
  ['/notices', 'Notices'],
] as const;

/** htmx must not evaluate text or write styles: the content security policy forbids both. */
const HTMX = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  allowScriptTags: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
});

export function Document({ title, children }: { title: string; children: Child }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="htmx-config" content={HTMX} />
        <title>{`${title} · Waybill`}</title>
        <link rel="icon" href={asset('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={asset('console.css')} />
        <script src={asset('htmx.js')} defer></script>
        <script src={asset('console.js')} defer></script>
      </head>
      <body>{children}</body>
    </html>
  );
}

/** Responds with a page for somebody who is not signed in. */
export function respondPlain(c: Context, title: string, content: Child, status: ContentfulStatusCode = 200) {
  const page = (
    <Document title={title}>
      <div class="sign-in">
        <main>
          <h1>{title}</h1>
          {content}
        </main>
      </div>
    </Document>
  );
  return c.html(html(page), status);
}

/** @param token left out: that of the session */
export function Csrf({ token = useViewer().csrf }: { token?: string }) {
  return <input type="hidden" name="csrf" value={token} />;
}

/** A form of a page. @param values of its fields, by name */
export function Form(
  props: { action: string; values?: Query; children: Child } & Omit<JSX.IntrinsicElements['form'], 'action'>,
) {
  const { action, values = {}, children, ...attributes } = props;
  return (
    <form method="post" action={`${CONSOLE}${action}`} {...attributes}>
      <Csrf />
      <ValuesOfForm.Provider value={values}>{children}</ValuesOfForm.Provider>
    </form>
  );
}

/** Put first in a form of several actions, so that Enter in its field chooses none of them. */
export const NoDefaultButton = () => <button type="submit" disabled hidden />;

/** A button for one action. Its id keeps the focus when its part of the page is replaced. */
export function ActionButton(props: {
  action: string;
  children: Child;
  /** A field of the form, before its button. */
  choice?: Child;
  kind?: 'plain' | 'main' | 'danger';
}) {
  const { action, children, kind = 'plain', choice = null } = props;
  return (
    <Form action={action} class="action">
      {choice}
      <button type="submit" class={kind} id={`do${action.replaceAll(/[^a-z0-9]+/gi, '-')}`}>
        {children}
      </button>
    </Form>
  );
}

/** The entries for people who may see several e-shops. */
const placesOfAll = [
  [ALL, 'All e-shops'],
  [`${ALL}/deliveries`, 'All deliveries'],
  [`${ALL}/webhooks`, 'All webhooks'],
] as const;

function seesSeveral({ operator, eshops }: Viewer): boolean {
  return operator || eshops.length > 1;
}

function Navigation({ here }: { here: string }) {
  const viewer = useViewer();
  const several = seesSeveral(viewer);
  const recoveries = [[`${ALL}/recoveries`, 'Recoveries']] as const;
  const shown = [...(several ? placesOfAll : []), ...(viewer.operator ? recoveries : []), ...places];
  return (
    <nav aria-label="Main">
      <ul>
        {shown.map(([path, name]) => (
          <li {...(several && path === '' ? { class: 'apart' } : {})}>
            <a href={`${CONSOLE}${path}`} {...(path === here ? { 'aria-current': 'page' as const } : {})}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface PageProps {
  readonly title: string;
  /** The path of its entry in the navigation. */
  readonly here: string;
  /** The action just done, in a sentence. */
  readonly notice?: string | undefined;
  readonly refused?: Rejection | undefined;
  /** The fields of its form, which show their own problems. */
  readonly fields?: FieldPaths;
  /** The webhooks that the notice and the refusal may name. */
  readonly names?: WebhookNames;
  readonly children: Child;
}

export function Page(props: PageProps) {
  const { title, here, notice, refused, fields = [], names = new Map(), children } = props;
  const viewer = useViewer();
  const { at, rest } = problemsIn(refused, fields);
  const { username, role, eshopId } = viewer.session;
  const several = seesSeveral(viewer);
  // These headers keep a live page at this e-shop.
  const headers = JSON.stringify({ [ESHOP_HEADER]: String(eshopId) });
  const about = several ? { 'data-eshop': String(eshopId), 'hx-headers': headers } : {};
  return (
    <Document title={title}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="frame" {...about}>
        <header class="side">
          <a class="brand" href={CONSOLE}>
            <img src={asset('icon.svg')} alt="" width="22" height="22" />
            Waybill
          </a>
          <Navigation here={here} />
          <div class="who">
            <p>
              {several ? null : <strong>{viewer.eshopName}</strong>}
              <span>
                {username} · {viewer.operator ? 'operator' : role}
              </span>
            </p>
            {viewer.operator ? null : <a href="/docs">Documentation</a>}
            <ActionButton action="/sign-out">Sign out</ActionButton>
          </div>
        </header>
        <main id="main" tabindex={-1}>
          {several && !here.startsWith(ALL) ? <Switcher eshops={viewer.eshops} eshopId={eshopId} /> : null}
          {notice === undefined ? null : (
            <p class="note good" role="status">
              <Sentence text={notice} names={names} />
            </p>
          )}
          {rest === undefined ? null : (
            <p class="note bad" role="alert">
              <Sentence text={rest} names={names} />
            </p>
          )}
          <ProblemsOfForm.Provider value={at}>{children}</ProblemsOfForm.Provider>
          <footer class="foot">
            <span class="zone">Times are UTC.</span>
          </footer>
        </main>
      </div>
    </Document>
  );
}

/** Responds with a page for the person signed in. */
export function respond(c: Context<ConsoleEnv>, page: Child, status: ContentfulStatusCode = 200): Response {
  return c.html(html(<ViewerOfPage.Provider value={c.var.viewer}>{page}</ViewerOfPage.Provider>), status);
}

/** A page for anybody. */
export function html(page: Child): string {
  // We write no such characters ourselves; in text by others they could reverse or hide the text next to it.
  return withoutUnseen(`<!doctype html>\n${page}\n`);
}
