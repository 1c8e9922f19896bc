/** The site as files. */
import type { OpenApiDocument } from '../src/api/openapi/document.ts';
import { assetFiles, DOCS } from './assets.ts';
import type { Documents } from './documents.ts';
import { llmsText, markdownFiles } from './for-models.ts';
import { makeSite } from './pages.tsx';
import { fromTheRoot, withRelativeLinks } from './relative.ts';
import { searchIndex } from './search-index.ts';

/** The file of a page: `/docs/events` is `events/index.html`. */
function fileOf(path: string): string {
  return `${path.slice(DOCS.length + 1)}/index.html`.replace(/^\//, '');
}

/** All files of the site, by their paths within its folder. */
export function siteFiles(document: OpenApiDocument, documents: Documents): ReadonlyMap<string, string> {
  const site = makeSite(document, documents);
  const pages = [...site.pages, [`${DOCS}/search`, site.search] as const];
  const findable = site.findable.map(({ id, ...entry }) => ({ id: fromTheRoot(id), ...entry }));
  return new Map([
    ...pages.map(([path, html]) => [fileOf(path), withRelativeLinks(html, path)] as const),
    // Its links begin with "./": a server that answers with it at another depth must replace that.
    ['404.html', withRelativeLinks(site.missing, DOCS)],
    ['search.json', searchIndex(findable)],
    ['openapi.json', JSON.stringify(document)],
    ['llms.txt', llmsText(document, documents)],
    ...markdownFiles(documents),
    ...assetFiles(),
  ]);
}
