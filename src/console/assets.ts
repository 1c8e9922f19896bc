import { readFileSync } from 'node:fs';
import { icon, packagedScript, pageScript, serveAssets, styleSheet } from '../theme/assets.ts';
import { CONSOLE } from './session.ts';

const own = (name: string) => readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8');

export const { address: asset, routes: assetRoutes } = serveAssets(CONSOLE, {
  'console.css': styleSheet(own('console.css')),
  'console.js': pageScript(own('console.js')),
  'htmx.js': packagedScript('htmx.org/dist/htmx.min.js'),
  'icon.svg': icon,
});
