// Runs the server from its build: `npm start`, `waybill start`, the image, all of them. Another start recognizes by
// this command line that the holder of DATA_DIR is a Waybill.
import { requireBuild } from './built.js';
import { requirePatches } from './patched.js';
import { requirePlatform } from './platform.js';

requirePlatform();
requireBuild();
requirePatches();
// As --enable-source-maps does, which `waybill start` cannot ask for.
process.setSourceMapsEnabled(true);
await import('../dist/src/main.js');
