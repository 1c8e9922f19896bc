/** To be run every hour, and after every outage: handles what never came, or came and was lost. */
import { readFile, writeFile } from 'node:fs/promises';
import { type Reconcilable, reconcile, waybill } from '@waybill-hq/receiver';

const { WAYBILL_URL = '', API_KEY = '', WAYBILL_USER = '', WAYBILL_PASSWORD = '' } = process.env;
/** Up to where everything is settled. It belongs in your database, beside what was handled. */
const CURSOR = 'reconciled-up-to';

export async function fillGaps(hooks: Reconcilable): Promise<void> {
  const api = waybill({
    url: WAYBILL_URL,
    apiKey: API_KEY,
    username: WAYBILL_USER,
    password: WAYBILL_PASSWORD,
  });
  const after = await readFile(CURSOR, 'utf8').catch(() => undefined);
  const found = await reconcile(hooks, { api, after });
  await writeFile(CURSOR, found.after);
  console.log(`${found.recovered.length} of ${found.seen} deliveries were missing, ${found.open} are open.`);
  for (const { delivery, problem } of found.failed) console.error(delivery.id, problem);
}
