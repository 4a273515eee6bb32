/**
 * Draws the picture of the README: commands that are run now, on the example cluster, with what they print. Needs dist/.
 *
 * `node scripts/draw-terminal.mjs > docs/pictures/terminal.svg`; `npm run docs` does it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const PROGRAM = resolve('dist/portolan.js');
const EXAMPLES = resolve('examples/cluster');
const COREFILE = `.:53 {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa
    foward . 192.0.2.53
    cache 30
}
`;
const STEPS = [
  ['corefile', 'check', 'Corefile'],
  ['explain', 'cart', '--from', 'data/', '--manifests', 'examples/cluster'],
];

/** Pixels. */
const SIZE = 12;
const LINE = 17;
const COLUMN = 7.23;
const MARGIN = 16;
const COLOURS = {
  ground: '#0d1117',
  text: '#c9d1d9',
  prompt: '#7ee787',
  bad: '#ff7b72',
  good: '#7ee787',
  faint: '#8b949e',
};

/** The lines of all steps, each with its colour. */
function runSteps() {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-picture-'));
  try {
    writeFileSync(join(folder, 'Corefile'), COREFILE);
    return STEPS.flatMap((words) => {
      const args = words.map((word) => (word === 'examples/cluster' ? EXAMPLES : word));
      const { stdout, stderr, error } = spawnSync(process.execPath, [PROGRAM, ...args], {
        cwd: folder,
        encoding: 'utf8',
      });
      const printed = `${stdout}${stderr}`.trimEnd();
      if (error !== undefined || printed === '' || printed.includes('Cannot find module'))
        throw new Error(`portolan ${words.join(' ')}: no output; run npm run build first`);
      return [
        { text: `$ portolan ${words.join(' ')}`, colour: COLOURS.prompt },
        ...printed.split('\n').map(paint),
        paint(''),
      ];
    }).slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function paint(text) {
  if (/^does not resolve|NXDOMAIN|Error during/.test(text)) return { text, colour: COLOURS.bad };
  if (/^resolves|^ +(?:near|do) |Did you mean|NOERROR/.test(text)) return { text, colour: COLOURS.good };
  if (/^ +(?:client|walk)|not reached/.test(text)) return { text, colour: COLOURS.faint };
  return { text, colour: COLOURS.text };
}

const escapeText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function draw(lines) {
  const width = Math.ceil(Math.max(...lines.map(({ text }) => text.length)) * COLUMN) + 2 * MARGIN;
  const height = lines.length * LINE + 2 * MARGIN;
  const rows = lines.map(
    ({ text, colour }, index) =>
      `<text x="${MARGIN}" y="${MARGIN + (index + 1) * LINE - 5}" fill="${colour}" xml:space="preserve">${escapeText(text)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>portolan corefile check, and portolan explain for a name that does not resolve</title>
<rect width="100%" height="100%" rx="8" fill="${COLOURS.ground}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${SIZE}">
${rows.join('\n')}
</g>
</svg>
`;
}

process.stdout.write(draw(runSteps()));
