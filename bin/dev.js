// For `npm run dev`: what running the sources needs.
import { requirePatches } from './patched.js';

requirePatches();
await import('./sources.js');
