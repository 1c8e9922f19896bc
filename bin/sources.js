// Lets Node run the sources as they are: `node --import ./bin/sources.js src/main.ts`. tsx would keep what it makes of them in the
// machine's temporary folder, whoever owns that: another user could choose our code. Making it anew costs a few tenths of a second.
process.env.TSX_DISABLE_CACHE = '1';
await import('tsx');
