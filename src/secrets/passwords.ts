/** Passwords: argon2id with the parameters that OWASP recommends (19 MiB, two passes, one lane). */
import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Hashes a password into a PHC string (argon2id is the library's default). */
export function hashPassword(password: string): Promise<string> {
  return hash(password, OPTIONS);
}

/** True when the password is the one that was hashed; false for anything else, a damaged hash included. */
export async function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  try {
    return await verify(passwordHash, password);
  } catch {
    return false;
  }
}

/** A password for a person to copy once: 18 random bytes as base64url, 144 bits. */
export function newPassword(): string {
  return randomBytes(18).toString('base64url');
}
