/**
 * How much the deliveries of a write will send: a change of a few bytes in a large record means many if there are
 * many webhooks.
 */
/** The bytes of deliveries' bodies, roughly, as if each event had equally many deliveries. */
export function outgoingBytes(events: readonly { readonly snapshot: string }[], deliveries: number): number {
  const bytes = events.reduce((sum, { snapshot }) => sum + snapshot.length, 0);
  return events.length === 0 ? 0 : Math.round((bytes * deliveries) / events.length);
}
