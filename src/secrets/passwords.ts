/**
 * Passwords: argon2id with the parameters recommended by OWASP (19 MiB, two passes, one lane). Users from another
 * system have its hashes: argon2id with other parameters, or bcrypt (docs/interface.md, A8).
 */
import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';

const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** The beginning of our own hashes. */
const OWN_KIND = '$argon2id$v=19$m=19456,t=2,p=1';

/** Hashes a password into a PHC string (argon2id is the library's default). */
export function hashPassword(password: string): Promise<string> {
  return hash(password, OPTIONS);
}

/** The bytes of a password that bcrypt uses; it ignores the rest. */
const BCRYPT_BYTES = 72;

/**
 * Whether the hash of a correct password is replaced by an argon2id hash. Not if bcrypt has checked only the
 * beginning of it: a wrong password with the same beginning would become the password.
 */
export const isReplaced = (passwordHash: string, password: string) =>
  isBcrypt(passwordHash) && Buffer.byteLength(password) <= BCRYPT_BYTES;

const isBcrypt = (passwordHash: string) => passwordHash.startsWith('$2');

/** True if the password matches the hash; false for anything else, including a damaged hash. */
export async function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  try {
    return await (isBcrypt(passwordHash)
      ? verifyBcrypt(password, passwordHash)
      : verify(passwordHash, password));
  } catch {
    return false;
  }
}

/**
 * Like `verifyPassword`, in a time that reveals nothing about the user: a hash of each kind is checked for everyone.
 * @param kinds the kinds of all users' hashes, each the beginning of a hash
 * @param own the user's hash and its kind; null if there is no such user
 */
export async function verifyInConstantTime(
  kinds: readonly string[],
  own: { readonly passwordHash: string; readonly passwordKind: string | null } | null,
  password: string,
): Promise<boolean> {
  let right = false;
  for (const kind of kinds.length === 0 ? [OWN_KIND] : kinds) {
    const mine = own !== null && own.passwordKind === kind;
    const checked = await verifyPassword(mine ? own.passwordHash : decoyOf(kind), password);
    if (mine) right = checked;
  }
  return right;
}

/** A hash of the same cost that matches no password: salt and hash are zeros. */
const decoyOf = (kind: string) =>
  isBcrypt(kind) ? `${kind}$${'.'.repeat(53)}` : `${kind}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** The maximum cost of checking a foreign hash: about a second, or 128 MiB. */
const MAX_BCRYPT_COST = 14;
const MAX_ARGON2 = { m: 131_072, t: 10, p: 16 } as const;

/** The problem of a foreign hash; null if it can be imported. The hash is not repeated. */
export function foreignHashProblem(passwordHash: string): string | null {
  const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(passwordHash);
  if (bcrypt !== null) {
    const cost = Number(bcrypt[1]);
    return cost >= 4 && cost <= MAX_BCRYPT_COST ? null : `bcrypt: its cost must be 4 to ${MAX_BCRYPT_COST}`;
  }
  const argon2 =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,86}$/.exec(
      passwordHash,
    );
  if (argon2 === null)
    return 'must be a hash by bcrypt ($2b$12$…) or argon2id ($argon2id$v=19$m=…,t=…,p=…$…$…)';
  const [m = 0, t = 0, p = 0] = argon2.slice(1).map(Number);
  const within =
    m <= MAX_ARGON2.m && t >= 1 && t <= MAX_ARGON2.t && p >= 1 && p <= MAX_ARGON2.p && m >= 8 * p;
  return within
    ? null
    : `argon2id: m must be from 8 × p to ${MAX_ARGON2.m}, t 1 to ${MAX_ARGON2.t}, p 1 to ${MAX_ARGON2.p}`;
}

/** A password for a person to copy once: 18 random bytes in base64url, 144 bits. */
export function newPassword(): string {
  return randomBytes(18).toString('base64url');
}
