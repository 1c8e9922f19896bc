/** Who makes first attempts in a round: the values of FIRST_ATTEMPTS. */

/** In the order in which rounds take turns. */
export const settings = ['batch', 'auto', 'each'] as const;
/** One of them. */
export type Setting = (typeof settings)[number];

/** Whose turn it is. */
export function turnOf(index: number): Setting {
  return settings[index % settings.length] ?? 'each';
}
