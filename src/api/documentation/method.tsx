/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The method of an operation, in its colour. */

/** @param method in any case */
export function Method({ method }: { method: string }) {
  return <span class={`method ${method.toLowerCase()}`}>{method.toUpperCase()}</span>;
}
