/** Bytes, text and keyed hashes, with nothing that any JavaScript runtime lacks. */

/** Bytes in the form that WebCrypto accepts. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** The UTF-8 bytes of texts and bytes, one after another. */
export function join(...parts: readonly (string | Bytes)[]): Bytes {
  const all = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part));
  const joined = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** HMAC-SHA256. */
export async function hmac(key: Bytes, content: Bytes): Promise<Bytes> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, content));
}

/** Whether two texts are equal, in a time that does not reveal where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < b.length; at += 1) difference |= a.charCodeAt(at % a.length) ^ b.charCodeAt(at);
  return difference === 0;
}

/** In lower-case hexadecimal digits. */
export function toHex(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** In base64. */
export function toBase64(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes));
}

/** @throws DOMException if it is not base64 */
export function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
