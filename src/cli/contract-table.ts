/** A contract for people. */
import type { Contract } from '../domain/contract.ts';

/** A line for each thing that it speaks of. */
export function contractRows(contract: Contract): (readonly [string, string])[] {
  const { webhookTypes, payloadVersions, withPackingLists, maxWebhooks, deleteWebhooks } = contract;
  const named = (names: readonly string[] | null) =>
    names === null ? 'all' : names.length === 0 ? 'none' : names.join(', ');
  const allowed = (yes: boolean) => (yes ? 'allowed' : 'not allowed');
  return [
    ['Types', named(webhookTypes)],
    ['Payloads', named(payloadVersions)],
    ['Packing lists', allowed(withPackingLists)],
    ['Max. webhooks', String(maxWebhooks)],
    ['Deletions', allowed(deleteWebhooks)],
  ];
}
