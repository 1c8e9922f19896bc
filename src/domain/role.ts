/** `shop`: an e-shop's own user. `warehouse`: the warehouse's user for that e-shop. */
export const roles = ['shop', 'warehouse'] as const;
export type Role = (typeof roles)[number];

/** The longest name of a user, in characters. */
export const MAX_USERNAME_CHARS = 200;
