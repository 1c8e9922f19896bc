/** Which deliveries get a workflow in a round: the values of WORKFLOWS. */

/** In the order of the rounds' turns. */
export const settings = ['all', 'undelivered'] as const;
/** A value of WORKFLOWS. */
export type Setting = (typeof settings)[number];

/** The setting whose turn it is. */
export function turnOf(index: number): Setting {
  return settings[index % settings.length] ?? 'all';
}
