// Lets Node run the sources as they are: `node --import ./bin/sources.js src/main.ts`. tsx would cache its output in the
// machine's temporary folder, where another user could replace it. Without that cache, a start takes a few tenths of a second longer.
process.env.TSX_DISABLE_CACHE = '1';
await import('tsx');
