/** Commands of `waybill`: their context, and their options, checked. */
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { UserError } from './user-error.ts';

export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Receives what the command prints, line by line.
   * @param shownOnce it contains a key, password or secret that is shown nowhere else: if standard output fails, as
   * on a full disk, it is printed on standard error
   */
  readonly print: (line: string, shownOnce?: boolean) => void;
}

/** An option: its flags, its meaning, and the schema of its value. @param fallback as a user would type it */
export function option<const S extends v.GenericSchema>(
  flags: string,
  description: string,
  schema: S,
  fallback?: string,
) {
  return v.pipe(schema, v.metadata({ option: new Option(flags, description).default(fallback) }));
}

export const requiredOption = <const S extends v.GenericSchema>(
  flags: string,
  description: string,
  schema: S,
) => v.pipe(schema, v.metadata({ option: new Option(flags, description).makeOptionMandatory() }));

/** An option without a value. */
export const flag = (flags: string, description: string) =>
  option(flags, description, v.optional(v.boolean(), false));

/** For a command without options of its own. */
export const noOptions = v.object({});

/** The options of a command, each an {@link option}. */
type Options = v.GenericSchema<unknown, object> & { readonly entries: v.ObjectEntries };

/**
 * Gives a command its options, and `--json` for programs that read its result.
 * @param work gets the checked options, and the arguments
 */
export function runs<const S extends Options>(
  command: Command,
  options: S,
  work: (given: v.InferOutput<S> & { readonly json: boolean }, ...written: string[]) => void | Promise<void>,
): void {
  for (const entry of Object.values(options.entries)) {
    if (entry.kind !== 'schema') continue;
    const { option: described } = v.getMetadata(entry);
    if (described instanceof Option) command.addOption(described);
  }
  command.option('--json', 'print JSON for a program to read').action(async () => {
    const { json = false, ...given } = command.opts<{ json?: boolean }>();
    await work({ ...parseOptions(options, given), json }, ...command.args);
  });
}

/** An integer, as an option's text. @param name of the option, for the message about an invalid value */
export const wholeNumber = (name: string, maximum: number, minimum = 1) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => /^(0|[1-9]\d*)$/.test(text) && Number(text) >= minimum && Number(text) <= maximum,
      `--${name} must be an integer from ${minimum} to ${maximum}.`,
    ),
    v.transform(Number),
  );

/** @throws UserError with one sentence, about the first mistake */
export function parseOptions<const S extends v.GenericSchema>(schema: S, options: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, options, { abortEarly: true });
  if (result.success) return result.output;
  throw new UserError(result.issues[0].message);
}
