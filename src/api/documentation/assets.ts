import { readFileSync } from 'node:fs';
import { icon, packagedScript, pageScript, serveAssets, styleSheet } from '../../theme/assets.ts';

export const DOCS = '/docs';

const own = (name: string) => readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8');

export const { address: asset, routes: assetRoutes } = serveAssets(DOCS, {
  'docs.css': styleSheet(own('docs.css')),
  'docs.js': pageScript(own('docs.js')),
  'minisearch.js': packagedScript('minisearch'),
  'icon.svg': icon,
});
