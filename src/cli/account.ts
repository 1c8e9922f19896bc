/** Who is at this terminal. */
import { userInfo } from 'node:os';

/** The account on this machine; empty where it has no name. */
export function account(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? '';
  }
}
