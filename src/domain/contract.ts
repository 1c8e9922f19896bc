/**
 * The contract of an e-shop, set by the operator. A request that it forbids is refused with 400 (docs/interface.md,
 * W11).
 */
import * as v from 'valibot';
import { payloadVersions } from './decimal.ts';
import { eventTypeNames, isEventType } from './event-types.ts';
import type { FieldProblem } from './problem.ts';
import type { GivenSettings } from './webhook.ts';
import { typesOf } from './webhook-types.ts';

/** A contract; a field left out allows everything. */
export const contractSchema = v.strictObject({
  /** Null: all. */
  webhookTypes: v.optional(v.nullable(v.array(v.picklist(eventTypeNames))), null),
  /** Null: all. */
  payloadVersions: v.optional(v.nullable(v.array(v.picklist(payloadVersions))), null),
  withPackingLists: v.optional(v.boolean(), true),
  maxWebhooks: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 100),
  deleteWebhooks: v.optional(v.boolean(), true),
});
export type Contract = v.InferOutput<typeof contractSchema>;

/** A stored contract. A process of a newer release may have allowed types that this one does not know. */
const storedContract = v.strictObject({
  ...contractSchema.entries,
  webhookTypes: v.optional(
    v.nullable(
      v.pipe(
        v.array(v.string()),
        v.transform((types) => types.filter(isEventType)),
      ),
    ),
    null,
  ),
});

/** The contract without unknown event types. @throws ValiError if the stored value is no contract */
export function contractOf(stored: unknown): Contract {
  return v.parse(storedContract, stored ?? {});
}

/** The problems of a new or replaced webhook under the contract; empty if none. */
export function contractProblems(contract: Contract, webhook: GivenSettings): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { webhookTypes, payloadVersions: versions } = contract;
  for (const type of typesOf(webhook)) {
    if (webhookTypes === null || webhookTypes.includes(type)) continue;
    const path = type === webhook.webhookType ? 'webhookType' : 'additionalTypes';
    problems.push({ path, message: `the contract does not allow ${type}` });
  }
  if (versions !== null && !versions.includes(webhook.payloadVersion)) {
    problems.push({
      path: 'payloadVersion',
      message: `the contract does not allow ${webhook.payloadVersion}`,
    });
  }
  if (!contract.withPackingLists && webhook.parameters?.withPackingLists === true) {
    problems.push({
      path: 'parameters.withPackingLists',
      message: 'the contract does not allow packing lists',
    });
  }
  return problems;
}
