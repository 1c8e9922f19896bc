/**
 * The assets of pages: all served from here, each under an address that changes with its content.
 *
 * Module theme, which imports nothing. Begin: this file.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Hono } from 'hono';

/** A text that pages load, and its media type. */
export interface Asset {
  readonly type: string;
  readonly text: string;
}

/** A file of this folder, shared by console and documentation. */
const shared = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** A style sheet: the shared part, then the page's own. */
export function styleSheet(own: string): Asset {
  return { type: 'text/css; charset=utf-8', text: shared('base.css') + own };
}

const script = (text: string): Asset => ({ type: 'text/javascript; charset=utf-8', text });

/** The script of pages: the shared part, then the page's own. */
export function pageScript(own: string): Asset {
  return script(shared('copy.js') + own);
}

/** A script of a package, as it is imported. */
export function packagedScript(specifier: string): Asset {
  return script(readFileSync(new URL(import.meta.resolve(specifier)), 'utf8'));
}

export const icon: Asset = { type: 'image/svg+xml', text: shared('icon.svg') };

/**
 * @param prefix the path under which the routes are mounted, such as `/console`
 * @returns `address` of an asset by its name, and its `routes`, each below `/assets`
 */
export function serveAssets<Name extends string>(prefix: string, assets: Readonly<Record<Name, Asset>>) {
  const entries: [string, Asset][] = Object.entries(assets);
  const addresses = new Map<string, string>();
  const routes = new Hono();
  for (const [name, { type, text }] of entries) {
    const version = createHash('sha256').update(text).digest('base64url').slice(0, 12);
    addresses.set(name, `${prefix}/assets/${name}?v=${version}`);
    routes.get(`/assets/${name}`, (c) => {
      c.header('content-type', type);
      c.header('cache-control', 'public, max-age=31536000, immutable');
      return c.body(text);
    });
  }
  return { address: (name: Name) => addresses.get(name) ?? '', routes };
}
