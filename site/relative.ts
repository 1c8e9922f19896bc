/** Links relative to their page: so the site works under any path, on any host. */
import { DOCS } from './assets.ts';

/** An address of this site in an attribute of an element. */
const LINK = / (href|src|action|data-index|data-engine)="\/docs(?=[/#?"])([^"#?]*)/g;

/** How deep a page's folder is below that of the site. */
function depthOf(path: string): number {
  return path.split('/').length - DOCS.split('/').length;
}

/**
 * An address as seen from a page, as `../../events/CREATE_ORDER/` for `/docs/events/CREATE_ORDER`. Each page is a
 * folder's `index.html`, so that no address has an extension.
 * @param path the page's, such as `/docs/guides/quickstart`
 */
function relativeTo(path: string, address: string): string {
  const target = address.slice(DOCS.length + 1);
  const isFolder = target !== '' && !target.split('/').at(-1)?.includes('.');
  return `${'../'.repeat(depthOf(path)) || './'}${target}${isFolder ? '/' : ''}`;
}

/** Makes all links of a page to this site relative. */
export function withRelativeLinks(html: string, path: string): string {
  return html.replaceAll(LINK, (_, name, rest) => ` ${name}="${relativeTo(path, `${DOCS}${rest}`)}`);
}

/** The address of a page or a section as the search knows it: relative to the folder of the site. */
export function fromTheRoot(address: string): string {
  const [path = '', id] = address.split('#');
  return `${relativeTo(DOCS, path)}${id === undefined ? '' : `#${id}`}`;
}
