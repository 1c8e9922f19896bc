// The server, from its build: `npm start`, the image, and every other way to run it. By its name another
// start knows that a process which holds DATA_DIR is a Waybill.
import { requireBuild } from './built.js';
import { requirePatches } from './patched.js';

requireBuild();
requirePatches();
await import('../dist/src/main.js');
