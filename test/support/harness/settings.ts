/** The settings of `WORKFLOWS`. */
export const settings = ['all', 'undelivered'] as const;
/** A value of {@link settings}. */
export type Setting = (typeof settings)[number];
