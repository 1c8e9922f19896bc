/** What browsers are told of all pages. */
import { secureHeaders } from 'hono/secure-headers';

/**
 * Everything from here, nothing inline, nothing framed. TLS is up to the proxy that terminates it.
 * @param referrerPolicy whether a page that is followed from here learns from where
 */
export function securedPages(referrerPolicy: 'same-origin' | 'no-referrer') {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    xFrameOptions: 'DENY',
    referrerPolicy,
    strictTransportSecurity: false,
  });
}
