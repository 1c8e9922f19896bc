// Lets Node run the sources as they are: `node --import ./bin/sources.js src/main.ts`. Without tsx's cache, which
// another user could replace in the machine's temporary folder, a start takes a few tenths of a second longer.
process.env.TSX_DISABLE_CACHE = '1';
await import('tsx');
