#!/usr/bin/env node
// The command `waybill`, from its build.
import { requireBuild } from './built.js';
import { requirePatches } from './patched.js';
import { requirePlatform } from './platform.js';

// The server has nothing of the commands about it: neither their answers to signals nor to an output that is gone.
if (process.argv[2] === 'start' && process.argv.length === 3) await import('./main.js');
else {
  requirePlatform();
  requireBuild();
  requirePatches();
  await import('../dist/src/cli/main.js');
}
