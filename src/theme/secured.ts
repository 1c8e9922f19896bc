import { secureHeaders } from 'hono/secure-headers';

/**
 * Everything is loaded from this server, nothing is inline or framed; TLS is left to the proxy.
 * @param referrerPolicy whether a followed link reveals its page
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
