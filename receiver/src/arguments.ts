/** The arguments of a command. */
import { parseArgs } from 'node:util';
import { newPrivateKey, problemOfPrivateKey, publicKeyOf } from './private-keys.ts';

/** A mistake in the command line, described in a sentence. */
export class Mistake extends Error {}

const options = {
  secret: { type: 'string', multiple: true },
  asymmetric: { type: 'boolean', default: false },
  type: { type: 'string', default: 'CREATE_ORDER' },
  method: { type: 'string', default: 'POST' },
  'payload-version': { type: 'string', default: 'v2' },
  webhook: { type: 'string', default: '1' },
  header: { type: 'string', multiple: true },
  timeout: { type: 'string', default: '15' },
  json: { type: 'boolean', default: false },
  // The options of `listen` only.
  url: { type: 'string' },
  'forward-to': { type: 'string' },
  types: { type: 'string' },
  since: { type: 'string' },
  'with-packing-lists': { type: 'boolean', default: false },
  body: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The arguments of this process. @throws Mistake */
export function parsed() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new Mistake(error instanceof Error ? error.message : String(error));
  }
}

/** The options, each with its default. */
export type Given = ReturnType<typeof parsed>['values'];

/** @throws Mistake */
export function oneOf<const T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw new Mistake(`--${name} must be ${allowed.join(' or ')}.`);
  return found;
}

/** @throws Mistake */
export function positive(name: string, value: string): number {
  if (!/^\d{1,9}$/.test(value) || Number(value) === 0)
    throw new Mistake(`--${name} must be a number from 1 on.`);
  return Number(value);
}

/** Headers of the form `Name: value`. @throws Mistake */
export function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new Mistake(`--header must be of the form 'Name: value'.`);
      return [name.toLowerCase(), value];
    }),
  );
}

/** An `http` or `https` URL. @throws Mistake with `what` */
export function urlOf(value: string | undefined, what: string): string {
  if (value === undefined || !/^https?:\/\//i.test(value) || !URL.canParse(value)) throw new Mistake(what);
  return value;
}

/** A private key that signs, and its public key for the receiver. */
export interface KeyPair {
  readonly key: string;
  readonly publicKey: string;
  /** Whether it was made just now. */
  readonly isNew: boolean;
}

/**
 * The key in the variable `WEBHOOK_PRIVATE_KEY`, which needs no further option.
 * @param asymmetric whether a key has to sign: a new one is made, unless the variable is set
 * @returns null if no key is to sign
 * @throws Mistake
 */
export async function privateKeyOf(asymmetric: boolean): Promise<KeyPair | null> {
  const { WEBHOOK_PRIVATE_KEY: given = '' } = process.env;
  if (given === '' && !asymmetric) return null;
  const problem = given === '' ? null : problemOfPrivateKey(given, 'WEBHOOK_PRIVATE_KEY');
  if (problem !== null) throw new Mistake(problem);
  const key = given === '' ? await newPrivateKey() : given;
  return { key, publicKey: publicKeyOf(key), isNew: given === '' };
}
