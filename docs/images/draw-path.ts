/**
 * Draws docs/images/event-path-light.svg and …-dark.svg: the way of an event.
 *
 *     node --import ./bin/sources.js docs/images/draw-path.ts
 */
import { writeFile } from 'node:fs/promises';

const PALETTES = {
  light: {
    text: '#1f2328',
    muted: '#59636e',
    line: '#59636e',
    box: '#f6f8fa',
    border: '#d1d9e0',
    ours: '#ddf4ff',
    accent: '#0969da',
  },
  dark: {
    text: '#e6edf3',
    muted: '#9198a1',
    line: '#9198a1',
    box: '#151b23',
    border: '#3d444d',
    ours: '#10243e',
    accent: '#58a6ff',
  },
} as const;
type Palette = (typeof PALETTES)[keyof typeof PALETTES];

const WIDTH = 920;
const HEIGHT = 312;

function box(
  x: number,
  y: number,
  width: number,
  title: string,
  below: readonly string[],
  ours = true,
): string {
  const height = 42 + below.length * 18;
  const rest = below.map(
    (line, n) => `<tspan class="muted" x="${x + 14}" dy="${n === 0 ? 20 : 18}">${line}</tspan>`,
  );
  return `<rect class="${ours ? 'ours' : 'theirs'}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>
<text x="${x + 14}" y="${y + 26}"><tspan class="title">${title}</tspan>${rest.join('')}</text>`;
}

function arrow(path: string, label = '', x = 0, y = 0, dashed = false): string {
  const text =
    label === '' ? '' : `<text class="label" x="${x}" y="${y}" text-anchor="middle">${label}</text>`;
  return `<path class="arrow" d="${path}"${dashed ? ' stroke-dasharray="5 4"' : ''} marker-end="url(#tip)"/>${text}`;
}

function draw({ text, muted, line, box: theirs, border, ours, accent }: Palette): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title">
<title id="title">The way of an event: one transaction writes the change, its event and its deliveries; each delivery is sent, signed, to the receiver; its workflow in Temporal retries it for 48 hours, and can be held, retried or canceled by an operator.</title>
<style>
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif;fill:${text}}
.title{font-weight:600;font-size:14px}.muted{fill:${muted}}.label{fill:${muted};font-size:12px}
.ours{fill:${ours};stroke:${accent}}.theirs{fill:${theirs};stroke:${border}}
.arrow{fill:none;stroke:${line};stroke-width:1.6}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="${line}"/></marker></defs>
${box(10, 20, 150, 'E-shop, WMS', ['an order is packed,', 'goods are counted'], false)}
${box(250, 20, 220, 'One transaction', ['in Postgres: the change,', 'its event with a snapshot,', 'a delivery per webhook'])}
${box(560, 20, 150, 'Queue', ['by turns of e-shop', 'and webhook'])}
${box(770, 20, 140, 'Receiver', ['verifies, and', 'answers 2xx'], false)}
${box(410, 220, 300, 'A workflow per delivery', ['in Temporal: 20 retries within 48 hours;', 'then the webhook is deactivated'])}
${box(10, 220, 230, 'Operator', ['sees each delivery:', 'holds, retries or cancels it'], false)}
${arrow('M160 60H246', 'API', 203, 52)}
${arrow('M470 60H556', 'at once', 513, 52)}
${arrow('M710 60H766', 'signed', 738, 52)}
${arrow('M635 98V216', 'the result of the attempt', 716, 162)}
${arrow('M710 250H840V102', 'retries', 800, 243, true)}
${arrow('M240 256H406', 'Temporal’s UI, console', 323, 248)}
</svg>
`;
}

for (const [name, palette] of Object.entries(PALETTES))
  await writeFile(new URL(`event-path-${name}.svg`, import.meta.url), draw(palette));
