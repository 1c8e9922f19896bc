/**
 * The look of the documentation page.
 * @module
 */

/** One style sheet, light and dark by the reader's setting. */
export const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.2rem; border-right: 1px solid var(--line); font-size: .86rem; }
nav ul { list-style: none; margin: 0 0 .8rem; padding: 0; }
nav li { margin: .12rem 0; overflow-wrap: anywhere; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main { padding: 1.2rem 2.4rem 6rem; max-width: 64rem; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.6rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; } h3 { margin-top: 2rem; }
code, pre { font: .86em/1.5 ui-monospace, monospace; }
code { background: var(--soft); padding: .08em .3em; border-radius: .25em; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .9rem 1rem; border-radius: .5rem; overflow-x: auto; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
td p { margin: 0; } td ul { margin: .2rem 0; padding-left: 1.1rem; }
article { border-top: 1px solid var(--line); padding-top: .4rem; margin-top: 1.6rem; }
summary { cursor: pointer; }
.method { display: inline-block; min-width: 4em; font-weight: 700; font-size: .8em; }
.get { color: #1a7f37; } .post { color: #0969da; } .put, .patch { color: #9a6700; } .delete { color: #cf222e; }
.quiet { opacity: .7; font-size: .85rem; }
@media (max-width: 56rem) { body { display: block; } nav { position: static; height: auto; border: 0; } main { padding: 1rem; } }
`;
