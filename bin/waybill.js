#!/usr/bin/env node
// The command `waybill`, from its build.
import { requireBuild } from './built.js';
import { requirePatches } from './patched.js';

requireBuild();
requirePatches();
await import('../dist/src/cli/main.js');
