/** `shop`: an e-shop's own user. `warehouse`: the warehouse's user for that e-shop. */
export const roles = ['shop', 'warehouse'] as const;
export type Role = (typeof roles)[number];
