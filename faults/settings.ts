/** How first attempts are made in a round: the values of FIRST_ATTEMPTS. */

/** In the order of the rounds' turns. */
export const settings = ['batch', 'auto', 'each'] as const;
/** A value of FIRST_ATTEMPTS. */
export type Setting = (typeof settings)[number];

/** The setting whose turn it is. */
export function turnOf(index: number): Setting {
  return settings[index % settings.length] ?? 'each';
}
