/** Where the requests of a webhook go (docs/interface.md, D2). */

export interface RequestTarget {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Host, with the port unless it is the scheme's default: the part of the URL that messages may show. */
  readonly host: string;
  /** Path and query exactly as on the request line. */
  readonly path: string;
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
export function encodeIdentifier(identifier: string): string {
  // A lone surrogate has no UTF-8 form; encodeURIComponent would throw.
  const encoded = encodeURIComponent(identifier.replace(/\p{Surrogate}/gu, '\ufffd'));
  // encodeURIComponent leaves these alone, but RFC 3986 reserves them.
  return encoded.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * The target of a request. The identifier of a GET is appended to path and query (docs/interface.md, D2), not to the
 * text of the URL: `https://shop.example` would get another host.
 * @throws TypeError if `url` is not an absolute URL
 */
export function requestTarget(url: string, appended: string | null): RequestTarget {
  const target = new URL(url);
  target.username = '';
  target.password = '';
  target.hash = '';
  const path = target.href.slice(target.origin.length);
  return {
    origin: target.origin,
    host: target.host,
    path: appended === null ? path : path + encodeIdentifier(appended),
  };
}
