/**
 * Webhooks of another system against the program as it is started (docs/interface.md, W4, W16 and W18): their receivers
 * go on with the secrets that they know, and headers for a gateway arrive and are in no file.
 */
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiClient, login } from '../support/client.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { type Program, startProgram } from '../support/program.ts';
import { createReceiver, type Receiver } from '../support/receiver.ts';
import { signedBy } from '../support/signed-by.ts';
import { until } from '../support/until.ts';
import { triedWaybill } from '../support/waybill-command.ts';

let installation: Installation;
let program: Program;
let shop: ApiClient;
let receiver: Receiver;

beforeAll(async () => {
  installation = await createInstallation();
  receiver = await createReceiver();
  program = await startProgram({ ...installation.env, LOG_LEVEL: 'debug' });
  shop = await login(program.url, installation.credentials);
});
afterAll(async () => {
  await program?.stop();
  await receiver?.close();
  await installation?.remove();
});

const newKey = () => `whsec_${randomBytes(32).toString('base64')}`;
const webhook = (path: string, fields: object = {}) => ({
  url: `${receiver.url}/${path}`,
  webhookType: 'CREATE_ORDER',
  active: true,
  method: 'POST',
  ...fields,
});

/** The delivery to a path of the order that is made now. */
async function delivered(path: string) {
  receiver.clear();
  await installation.order(program.url);
  return await until(() => receiver.requests.find((request) => request.path === `/${path}`));
}
