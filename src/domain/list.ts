/** Lists in requests: each has a maximum length; in a longer list no item is checked. */
import * as v from 'valibot';
import { ENOUGH_PROBLEMS } from './problem.ts';

/** The maximum number of lines of an order, a receiving or a return. */
export const MAX_LINES = 1000;

/**
 * A list of at most this many items. valibot's own array checks every item before the length, which takes seconds for
 * a body of a megabyte. This one stops at once, or after enough problems.
 * @param itemsName the plural noun of the items, for the messages
 */
export function list<const S extends v.GenericSchema>(item: S, max: number, itemsName = 'items') {
  const tooLong = `must have at most ${max} ${itemsName}`;
  const plain = v.array(item, itemsName === 'items' ? 'must be a list' : `must be a list of ${itemsName}`);
  const tooLongProblem = v.array(item, tooLong);
  const bounded: typeof plain = {
    ...plain,
    '~run'({ value: input }, config) {
      if (!Array.isArray(input)) return plain['~run']({ value: input }, config);
      if (input.length > max) return tooLongProblem['~run']({ value: null }, config);
      const value: v.InferOutput<S>[] = [];
      const issues: v.InferIssue<typeof plain>[] = [];
      let typed = true;
      for (const [index, sent] of input.entries()) {
        // For the types, each item passes through valibot's own array on its own; its index there is 0.
        const element = plain['~run']({ value: [sent] }, config);
        for (const issue of element.issues ?? []) {
          if (issue.path !== undefined) Object.assign(issue.path[0], { key: index, input });
          issues.push(issue);
        }
        if (element.typed) value.push(...element.value);
        else typed = false;
        if (issues.length >= ENOUGH_PROBLEMS) break;
      }
      const [first, ...others] = issues;
      if (first === undefined) return { typed: true, value };
      return typed
        ? { typed: true, value, issues: [first, ...others] }
        : { typed: false, value, issues: [first, ...others] };
    },
  };
  return v.pipe(bounded, v.maxLength(max, tooLong));
}

/** The lines of a record: at least one, at most {@link MAX_LINES}. */
export function lines<const S extends v.GenericSchema>(line: S) {
  return v.pipe(list(line, MAX_LINES, 'products'), v.minLength(1, 'must have at least one product'));
}

/** Ignored lines (marked D) may be sent on top of the {@link MAX_LINES}; longer lists are refused unread. */
const MAX_LINES_SENT = 10 * MAX_LINES;

/** The lines in a body before it is checked; none if they are no list, or so many that the check refuses them. */
export function itemsOf(sent: unknown): readonly unknown[] {
  return Array.isArray(sent) && sent.length <= MAX_LINES_SENT ? sent : [];
}
