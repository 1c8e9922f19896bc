/** Options of the commands that use a running instance through its API. */
import * as v from 'valibot';

/** @param name of the option, for the message about an invalid value */
export const webAddress = (name: string) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      `--${name} must be a URL beginning with http:// or https://.`,
    ),
  );
