#!/usr/bin/env node
// In a checkout the sources run as they are; an image has only the build.
import { existsSync } from 'node:fs';

const source = new URL('../src/cli/main.ts', import.meta.url);
if (existsSync(source)) {
  const { register } = await import('tsx/esm/api');
  register();
  await import(source.href);
} else {
  await import(new URL('../dist/src/cli/main.js', import.meta.url).href);
}
