/**
 * What was written after a command, checked.
 * @module
 */
import { Option } from 'commander';
import * as v from 'valibot';
import { CommandError } from './open-database.ts';

/** The option of every command whose result a program may want to read. */
export const json = () => new Option('--json', 'print JSON for a program to read');
/** What that option becomes. */
export const jsonSchema = v.object({ json: v.optional(v.literal(true)) });

/**
 * Checks options.
 * @throws CommandError with one sentence: the first thing that is wrong
 */
export function checked<const S extends v.GenericSchema>(schema: S, options: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, options, { abortEarly: true });
  if (result.success) return result.output;
  throw new CommandError(result.issues[0].message);
}
