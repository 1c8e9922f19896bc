/** Commands of `waybill`: what they are given, and their options, checked. */
import { Option } from 'commander';
import * as v from 'valibot';
import { UserError } from './user-error.ts';

export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Receives what the command prints, line by line.
   * @param shownOnce it has a key, password or secret that is told nowhere else: where standard output takes no more, as on a
   * full disk, it is told on standard error
   */
  readonly print: (line: string, shownOnce?: boolean) => void;
}

/** The option of every command whose result a program may want to read. */
export const json = () => new Option('--json', 'print JSON for a program to read');
export const jsonSchema = v.object({ json: v.optional(v.literal(true)) });

/** An integer, as an option's text. @param name of the option, for what is said of another value */
export const whole = (name: string, most: number, least = 1) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => /^(0|[1-9]\d*)$/.test(text) && Number(text) >= least && Number(text) <= most,
      `--${name} must be an integer from ${least} to ${most}.`,
    ),
    v.transform(Number),
  );

/** @throws UserError with one sentence: the first thing that is wrong */
export function checked<const S extends v.GenericSchema>(schema: S, options: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, options, { abortEarly: true });
  if (result.success) return result.output;
  throw new UserError(result.issues[0].message);
}
