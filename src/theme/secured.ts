import { secureHeaders } from 'hono/secure-headers';

/**
 * Everything from here, nothing inline, nothing framed; TLS is the proxy's.
 * @param referrerPolicy whether a followed link tells where it was
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
