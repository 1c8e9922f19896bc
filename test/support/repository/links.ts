/** Links and anchors of pages, from their HTML. */

const LINK = / (?:href|src|action|hx-get|data-live|data-index|data-engine)="([^"]*)"/g;

/** Where the links of a page lead, absolute. @param address the page's own */
export function linksOf(html: string, address: string): URL[] {
  return [...html.matchAll(LINK)].map(([, link = '']) => new URL(link.replaceAll('&amp;', '&'), address));
}

export function idsOf(html: string): string[] {
  return [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
}
