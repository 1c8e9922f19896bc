/** Yes or no, as it is written at the command line. */
import * as v from 'valibot';

/** @param option its name, for the message */
export const yesOrNo = (option: string) =>
  v.pipe(
    v.picklist(['yes', 'no'], `${option} must be yes or no.`),
    v.transform((text) => text === 'yes'),
  );
