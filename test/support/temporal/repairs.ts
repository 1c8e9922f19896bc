/** The repairs that the reconciler reports. */

/**
 * @param output the program's log
 * @returns how often each kind of record was repaired for each reason, summed over the lines
 */
export function repaired(output: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const line of output.split('\n').filter((each) => each.includes('"msg":"reconciled: '))) {
    for (const { kind, action, reason, count } of JSON.parse(line).repairs) {
      const key = `${kind} ${action} ${reason}`;
      sums[key] = (sums[key] ?? 0) + count;
    }
  }
  return sums;
}
