/** Firewalls and bot protections that answer in place of the shop, known by the marks that they put on responses. */

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const BLOCKING_STATUSES: ReadonlySet<number> = new Set([403, 406, 429, 503]);

/** Recognized by a header that the shop behind it does not set itself, or that names the answering server. */
const MARKS: readonly (readonly [name: string, header: string, value: RegExp])[] = [
  ['Cloudflare', 'cf-mitigated', /./],
  ['Cloudflare', 'server', /^cloudflare$/i],
  ['Akamai', 'server', /^AkamaiGHost$/i],
  ['Imperva', 'x-iinfo', /./],
  ['Imperva', 'x-cdn', /^(?:Imperva|Incapsula)$/i],
  ['Sucuri', 'server', /^Sucuri/i],
  ['Sucuri', 'x-sucuri-block', /./],
  ['AWS WAF', 'x-amzn-waf-action', /./],
];

/**
 * The firewall that seems to have refused a request in front of the shop; null if none has. With a CDN in front, the
 * shop's own refusal may carry the CDN's name too: the CDN is still the right place to look first.
 */
export function refusingFirewall(status: number, headers: Headers): string | null {
  if (!BLOCKING_STATUSES.has(status)) return null;
  const mark = MARKS.find(([, header, value]) =>
    [headers[header]].flat().some((one) => value.test(one ?? '')),
  );
  return mark?.[0] ?? null;
}
