// For `npm run dev`: what running the sources needs.
import { requirePatches } from './patched.js';
import { requirePlatform } from './platform.js';

requirePlatform();
requirePatches();
await import('./sources.js');
