#!/usr/bin/env node
/**
 * `waybill-receiver`: examines a receiver in any language, sends it the events of an e-shop, and prints the test
 * vectors.
 */
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Given, headersOf, Mistake, oneOf, parsed, positive, privateKeyOf, urlOf } from './arguments.ts';
import { isKind } from './delivery.ts';
import { type Examination, examine, exitCodeOf } from './examination/examine.ts';
import { createRequester } from './examination/request.ts';
import { table } from './examination/table.ts';
import { kinds } from './kinds.ts';
import { LISTEN_USAGE, listenCommand } from './listen/command.ts';
import { newPrivateKey } from './private-keys.ts';
import { sampleOf } from './samples.generated.ts';
import { newSecret, problemOfSecret } from './secrets.ts';

const USAGE = `Usage:
  waybill-receiver examine URL   sends the receiver at URL valid and invalid signed test requests
    --secret SECRET              the webhook's; twice for two (default: the variable WEBHOOK_SECRET)
    --asymmetric                 signs with the private key in the variable WEBHOOK_PRIVATE_KEY (whsk_…) too, for
                                 receivers that verify its public key
    --type TYPE                  of the events (default: CREATE_ORDER)
    --method POST|GET            (default: POST; with GET the identifier is appended to URL)
    --payload-version v2|v21     (default: v2)
    --webhook ID                 what X-Service-Webhook says (default: 1)
    --header 'NAME: VALUE'       a further header of every request; any number of them
    --timeout SECONDS            of one request (default: 15)
    --json                       prints JSON instead of a table
  waybill-receiver vectors [FOLDER]
                                 prints requests to accept and to refuse, and secrets and keys to refuse, as JSON, or
                                 writes them into a folder

${LISTEN_USAGE}
Exit code: 0 nothing failed, 1 the command was wrong, 2 something failed, 3 time ran out.
`;

/**
 * The webhook's secrets.
 * @param asymmetric true if a new secret will do, for a receiver that knows none
 * @throws Mistake
 */
function secretsOf(given: readonly string[] | undefined, asymmetric: boolean): readonly string[] {
  const { WEBHOOK_SECRET } = process.env;
  const secrets = given ?? (WEBHOOK_SECRET === undefined ? [] : [WEBHOOK_SECRET]);
  if (secrets.length === 0 && !asymmetric)
    throw new Mistake("Give the webhook's secret, with --secret or as WEBHOOK_SECRET.");
  for (const secret of secrets) {
    const problem = problemOfSecret(secret, 'The secret');
    if (problem !== null) throw new Mistake(problem);
  }
  return secrets.length === 0 ? [newSecret()] : secrets;
}

async function examined(receiverUrl: string | undefined, given: Given): Promise<Examination> {
  const url = urlOf(receiverUrl, 'Give the URL of the receiver, such as https://shop.example/hooks.');
  const kind = given.type;
  if (!isKind(kind)) throw new Mistake(`--type must be one of ${Object.keys(kinds).join(', ')}.`);
  const privateKey = await privateKeyOf(given.asymmetric);
  if (privateKey?.isNew === true)
    throw new Mistake(`Set WEBHOOK_PRIVATE_KEY. A new one, for a receiver that is given its public key
  ${privateKey.publicKey}
is
  ${privateKey.key}`);
  const secrets = secretsOf(given.secret, privateKey !== null);
  const method = oneOf('method', given.method, ['POST', 'GET']);
  const { record } = sampleOf(kind, oneOf('payload-version', given['payload-version'], ['v2', 'v21']));
  const { idField } = kinds[kind];
  const webhookId = positive('webhook', given.webhook);
  const requester = createRequester({
    url,
    method,
    kind,
    webhookId,
    privateKeys: privateKey === null ? null : { own: privateKey.key, stranger: await newPrivateKey() },
    headers: headersOf(given.header ?? []),
  });
  return await examine({
    subject: {
      method,
      body: method === 'GET' ? null : JSON.stringify(record),
      idField,
      numbered: typeof Reflect.get(record, idField) === 'number',
      secrets,
      now: new Date(),
    },
    ...requester,
    timeoutMs: positive('timeout', given.timeout) * 1_000,
  });
}

async function vectors(folder: string | undefined): Promise<void> {
  const names = ['signed', 'refused', 'setup', 'asymmetric', 'asymmetric-setup'] as const;
  const fileOf = (name: string) => new URL(`../vectors/${name}.json`, import.meta.url);
  if (folder === undefined) {
    const files = await Promise.all(
      names.map(async (name) => `"${name}":${(await readFile(fileOf(name), 'utf8')).trim()}`),
    );
    process.stdout.write(`{${files.join()}}\n`);
    return;
  }
  await mkdir(folder, { recursive: true });
  for (const name of names) await copyFile(fileOf(name), join(folder, `${name}.json`));
}

async function main(): Promise<void> {
  const { values, positionals } = parsed();
  const [command, operand, ...more] = positionals;
  if (values.help) return void process.stdout.write(USAGE);
  if (more.length > 0) throw new Mistake(`There is no use for ${more.join(' ')}.`);
  if (command === 'listen' && operand === undefined)
    return await listenCommand(values, (line) => process.stdout.write(`${line}\n`));
  if (command === 'vectors') return await vectors(operand);
  if (command !== 'examine') throw new Mistake(USAGE);
  const found = await examined(operand, values);
  process.stdout.write(`${values.json ? JSON.stringify(found) : table(found)}\n`);
  process.exitCode = exitCodeOf(found);
}

// The reader, such as `head`, has closed the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
try {
  await main();
} catch (error) {
  if (!(error instanceof Mistake)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
