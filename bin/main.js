// The server, from its build: `npm start`, `waybill start`, the image, and every other way to run it. By its command line another
// start knows that a process which holds DATA_DIR is a Waybill.
import { requireBuild } from './built.js';
import { requirePatches } from './patched.js';
import { requirePlatform } from './platform.js';

requirePlatform();
requireBuild();
requirePatches();
// As --enable-source-maps does, which `waybill start` cannot ask for.
process.setSourceMapsEnabled(true);
await import('../dist/src/main.js');
