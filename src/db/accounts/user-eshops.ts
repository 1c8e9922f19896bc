/** The e-shops that a warehouse user sees in the console besides its own. */
import type { Role } from '../../domain/role.ts';
import type { Pool } from '../connection/pool.ts';
import { transaction } from '../transaction.ts';

type SeenEshops =
  | { readonly kind: 'noUser' }
  /** Only warehouse users see several. */
  | { readonly kind: 'role'; readonly role: Role }
  | { readonly kind: 'noEshop'; readonly eshopId: number }
  /** All that the user sees, its own first. */
  | { readonly kind: 'seen'; readonly eshops: readonly number[] };

/** Changes which e-shops a user sees; one in both lists is removed. With empty lists it only reads them. */
export async function changeSeenEshops(
  sql: Pool,
  { eshopId, username }: { readonly eshopId: number; readonly username: string },
  { add, remove }: { readonly add: readonly number[]; readonly remove: readonly number[] },
): Promise<SeenEshops> {
  return await transaction(sql, async (tx) => {
    const [user] = await tx<{ id: number; role: Role }[]>`
      select id, role from users where eshop_id = ${eshopId} and username = ${username} for update`;
    if (user === undefined) return { kind: 'noUser' };
    if (user.role !== 'warehouse') return { kind: 'role', role: user.role };
    const existing = await tx<{ id: number }[]>`select id from eshops where id = any(${[...add]}::int[])`;
    const missing = add.find((id) => !existing.some((each) => each.id === id));
    if (missing !== undefined) return { kind: 'noEshop', eshopId: missing };
    await tx`
      insert into user_eshops (user_id, eshop_id)
      select ${user.id}, x from unnest(${[...add]}::int[]) x where x <> ${eshopId} on conflict do nothing`;
    await tx`delete from user_eshops where user_id = ${user.id} and eshop_id = any(${[...remove]}::int[])`;
    const rows = await tx<{ id: number }[]>`
      select eshop_id as id from user_eshops where user_id = ${user.id} order by 1`;
    return { kind: 'seen', eshops: [eshopId, ...rows.map(({ id }) => id)] };
  });
}
