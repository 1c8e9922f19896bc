/** Options of the commands that use a running instance through its API. */
import * as v from 'valibot';

/** @param name of the option, for what is said of another value */
export const whole = (name: string, most: number, least = 1) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => /^(0|[1-9]\d*)$/.test(text) && Number(text) >= least && Number(text) <= most,
      `--${name} must be an integer from ${least} to ${most}.`,
    ),
    v.transform(Number),
  );

/** @param name of the option, for what is said of another value */
export const webAddress = (name: string) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      `--${name} must be a URL beginning with http:// or https://.`,
    ),
  );
