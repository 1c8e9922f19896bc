/** A time, as it is written at the command line. */
import * as v from 'valibot';

/** @param name of the option, for the message */
export const time = (name: string) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => !Number.isNaN(Date.parse(text)),
      `${name} must be a time such as 2026-11-20 or 2026-11-20T19:33:00Z.`,
    ),
    v.transform((text) => new Date(text)),
  );
