/** The event and webhook in the headers of an attempt, for tests of the wire; the webhook adds no headers. */
export const wireEvent = {
  staticHeaders: {},
  webhookId: 7,
  eventId: '0197a0b4-0000-7000-8000-00000000000e',
  sequence: 3,
  happenedAt: new Date('2026-11-20T10:42:07.310Z'),
  origin: 'warehouse',
  changed: 'note,priority',
} as const;
