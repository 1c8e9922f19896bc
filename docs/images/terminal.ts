/** A recorded terminal as an animated SVG: each line appears at its time, in a loop; without motion all are shown. */

/** A line of the terminal. */
export interface Line {
  /** When it appeared, in milliseconds from the beginning. */
  readonly atMs: number;
  readonly kind: 'command' | 'output' | 'good' | 'bad' | 'note';
  readonly text: string;
}

/** Waits longer than this are shown as long as this: the clock before each line keeps the true time. */
const LONGEST_WAIT_MS = 1_800;
/** How long the end stays before it begins again. */
const REST_MS = 6_000;
const FONT_SIZE = 14;
const LINE_HEIGHT = 21;
const CHARACTER_WIDTH = 8.43;
const PADDING = 18;
const BAR_HEIGHT = 34;

const COLOURS = {
  command: '#e6edf3',
  output: '#b1bac4',
  good: '#56d364',
  bad: '#ff7b72',
  note: '#8b949e',
} as const;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const clock = (ms: number) => {
  const seconds = Math.floor(ms / 1_000);
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
};

/** The times at which lines are shown, in milliseconds. */
export function shownAt(lines: readonly Line[]): number[] {
  let shown = 0;
  return lines.map(({ atMs }, index) => {
    const wait = atMs - (lines[index - 1]?.atMs ?? atMs);
    shown += Math.min(Math.max(wait, 0), LONGEST_WAIT_MS);
    return shown;
  });
}

/** @returns the SVG; pure */
export function terminalSvg(title: string, lines: readonly Line[]): string {
  const longest = Math.max(...lines.map(({ text }) => text.length)) + 9;
  const width = Math.ceil(longest * CHARACTER_WIDTH + 2 * PADDING);
  const height = BAR_HEIGHT + lines.length * LINE_HEIGHT + 2 * PADDING;
  const times = shownAt(lines);
  const wholeMs = Math.round((times.at(-1) ?? 0) + REST_MS);
  const percent = (ms: number) => `${((100 * ms) / wholeMs).toFixed(2)}%`;
  const frames = times.map((ms, n) =>
    ms === 0
      ? ''
      : `@keyframes l${n}{0%{opacity:0}${percent(ms)}{opacity:1}100%{opacity:1}}#l${n}{animation-name:l${n}}`,
  );
  const rows = lines.map(({ atMs, kind, text }, n) => {
    const y = BAR_HEIGHT + PADDING + n * LINE_HEIGHT + FONT_SIZE;
    const shown = `${kind === 'command' ? '$ ' : ''}${text}`;
    return `<text id="l${n}" y="${y}"><tspan x="${PADDING}" fill="#6e7681">${clock(atMs)}</tspan><tspan x="${PADDING + 7 * CHARACTER_WIDTH}" fill="${COLOURS[kind]}"${kind === 'command' ? ' font-weight="600"' : ''}>${escaped(shown)}</tspan></text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;animation:none ${wholeMs}ms step-end infinite}
@media (prefers-reduced-motion:no-preference){
${frames.join('\n')}
}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117" stroke="#30363d"/>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
${rows.join('\n')}
</svg>
`;
}
