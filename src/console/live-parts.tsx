/** The parts of pages that refresh themselves. */
import type { Child } from 'hono/jsx';

/**
 * The part of a page that refreshes itself.
 * @param also the ids of {@link LivePart}s refreshed with it
 */
export function Live(props: { id: string; path: string; also?: readonly string[]; children: Child }) {
  const { id, path, also = [], children } = props;
  const others = also.length === 0 ? {} : { 'hx-select-oob': also.map((each) => `#${each}`).join(',') };
  return (
    <div
      id={id}
      hx-get={path}
      hx-trigger="live from:body"
      hx-select={`#${id}`}
      hx-swap="outerHTML"
      {...others}
    >
      {children}
    </div>
  );
}

/** See {@link Live}. */
export function LivePart({ id, children }: { id: string; children: Child }) {
  return <div id={id}>{children}</div>;
}

/** Details shown on demand; once opened, they stay open while their page is live. */
export function More(props: { id: string; title: string; small?: boolean; children: Child }) {
  const { id, title, small = false, children } = props;
  return (
    <details id={id}>
      <summary id={`${id}-title`} class={small ? 'small' : ''}>
        {title}
      </summary>
      {children}
    </details>
  );
}
