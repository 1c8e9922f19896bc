/**
 * The contract of an e-shop, set by the operator. A request that it forbids is refused with 400 (docs/interface.md,
 * W11).
 */
import * as v from 'valibot';
import { payloadVersions } from './decimal.ts';
import { eventTypeNames } from './event-types.ts';
import type { FieldProblem } from './problem.ts';
import type { GivenSettings } from './webhook.ts';
import { typesOf } from './webhook-types.ts';

/** Those entries of a stored list that this process knows; null: all. */
const knownOf = <T extends string>(known: readonly T[]) =>
  v.optional(
    v.nullable(
      v.pipe(
        v.array(v.string()),
        v.transform((stored) => known.filter((entry) => stored.includes(entry))),
      ),
    ),
    null,
  );

/**
 * A contract; a field left out allows everything. A process of a newer release may have set fields, types and
 * versions that this one lacks.
 */
export const contractSchema = v.object({
  webhookTypes: knownOf(eventTypeNames),
  payloadVersions: knownOf(payloadVersions),
  withPackingLists: v.optional(v.boolean(), true),
  maxWebhooks: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 100),
  deleteWebhooks: v.optional(v.boolean(), true),
});
export type Contract = v.InferOutput<typeof contractSchema>;

/** The known part of a stored contract. @throws ValiError if the stored value is no contract */
export function contractOf(stored: unknown): Contract {
  return v.parse(contractSchema, stored ?? {});
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
