/** Commands of `waybill`: their context, and their options, checked. */
import { Argument, type Command, Option } from 'commander';
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

/** The schema of a value, or a function that makes it from the name for its messages: `--since`, `<id>`. */
type Value<S> = S | ((name: string) => S);

function schemaOf<const S extends v.GenericSchema>(value: Value<S>, as: Option | Argument) {
  const name = as instanceof Option ? (as.long ?? as.flags) : `<${as.name()}>`;
  return v.pipe(typeof value === 'function' ? value(name) : value, v.metadata({ as }));
}

/** An option: its flags, its meaning, and its value. @param fallback as a user would type it */
export const option = <const S extends v.GenericSchema>(
  flags: string,
  description: string,
  value: Value<S>,
  fallback?: string,
) => schemaOf(value, new Option(flags, description).default(fallback));

/** An option that may be left out. */
export const optional = <const S extends v.GenericSchema>(
  flags: string,
  description: string,
  value: Value<S>,
) => option(flags, description, (name) => v.optional(typeof value === 'function' ? value(name) : value));

export const requiredOption = <const S extends v.GenericSchema>(
  flags: string,
  description: string,
  value: Value<S>,
) => schemaOf(value, new Option(flags, description).makeOptionMandatory());

/** An argument, such as `<file>`; `[ids...]` takes all that are left, as a list. */
export const argument = <const S extends v.GenericSchema>(
  name: string,
  description: string,
  value: Value<S>,
) => schemaOf(value, new Argument(name, description));

/** An option without a value. */
export const flag = (flags: string, description: string) =>
  option(flags, description, v.optional(v.boolean(), false));

/** For a command without options of its own. */
export const noOptions = v.object({});

/** The options and arguments of a command, each an {@link option} or {@link argument}. */
type Options = v.GenericSchema<unknown, object> & { readonly entries: v.ObjectEntries };

/**
 * Gives a command its options and arguments, and `--json` for programs that read its result.
 * @param work receives them, checked
 */
export function runs<const S extends Options>(
  command: Command,
  options: S,
  work: (given: v.InferOutput<S> & { readonly json: boolean }) => void | Promise<void>,
): void {
  const names: string[] = [];
  for (const [name, entry] of Object.entries(options.entries)) {
    if (entry.kind !== 'schema') continue;
    const { as } = v.getMetadata(entry);
    if (as instanceof Option) command.addOption(as);
    if (as instanceof Argument) {
      command.addArgument(as);
      names.push(name);
    }
  }
  command.option('--json', 'print JSON for a program to read').action(async () => {
    const { json = false, ...given } = command.opts<{ json?: boolean }>();
    const written = Object.fromEntries(names.map((name, index) => [name, command.processedArgs[index]]));
    await work({ ...parseOptions(options, { ...given, ...written }), json });
  });
}

/** Adds the subcommands of a group, each with its description, in the order of the help. @returns one by its name */
export function subcommands<const Name extends string>(
  command: Command,
  descriptions: Readonly<Record<Name, string>>,
): (name: Name) => Command {
  const parts = new Map<string, Command>();
  for (const [name, description] of Object.entries<string>(descriptions))
    parts.set(name, command.command(name).description(description));
  return (name) => parts.get(name) ?? command.command(name);
}

/** An integer, as an option's text. */
export const wholeNumber =
  (maximum: number, minimum = 1) =>
  (name: string) =>
    v.pipe(
      v.string(),
      v.check(
        (text) => /^(0|[1-9]\d*)$/.test(text) && Number(text) >= minimum && Number(text) <= maximum,
        `${name} must be an integer from ${minimum} to ${maximum}.`,
      ),
      v.transform(Number),
    );

/** @throws UserError with one sentence, about the first mistake */
export function parseOptions<const S extends v.GenericSchema>(schema: S, options: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, options, { abortEarly: true });
  if (result.success) return result.output;
  throw new UserError(result.issues[0].message);
}
