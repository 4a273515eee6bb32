/**
 * `docs/reference/originals.md` has the table of the images that replaced others: `npm run docs` writes it from the results of the
 * nightly run.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ORIGINALS, type OriginalCase } from '../originals/cases.ts';
import { findImageTarget, readOriginal } from '../originals/original.ts';
import type { MemoryUse } from '../originals/original-pod.ts';
import { computeCaseDigest, readResults } from '../originals/results.ts';

const PAGE = 'docs/reference/originals.md';
const BLOCK = /<!-- originals -->\n[\s\S]*?<!-- end of originals -->/;
const results = new Map(readResults().map((result) => [result.id, result]));

it.each(ORIGINALS.map((original) => [original.title, original] as const))(
  'the recorded result of %s is of its present manifest',
  (_title, original) => {
    expect(results.get(original.id)?.digest).toBe(computeCaseDigest(original));
  },
);

it('lists each original with its result', async () => {
  const head = ['| in place of | images | memory |', '|---|---|---:|'];
  const table = [...head, ...ORIGINALS.map(formatRow)].join('\n');
  const written = readFileSync(PAGE, 'utf8').replace(
    BLOCK,
    () => `<!-- originals -->\n\n${table}\n\n<!-- end of originals -->`,
  );
  await expect(written).toMatchFileSnapshot(`../../${PAGE}`);
});

it('names the source of each manifest', () => {
  const page = readFileSync(PAGE, 'utf8');
  for (const { manifest } of ORIGINALS) {
    expect(page).toContain(`\`${manifest}\``);
    expect(page).toContain(readOriginal(manifest).source.split(/[ ,]/)[0]);
  }
});

function formatRow(original: OriginalCase): string {
  const { spec } = readOriginal(original.manifest);
  const targets = spec.containers.flatMap((container) => findImageTarget(container) ?? []);
  const used = results.get(original.id)?.containers ?? [];
  const { title, note } = original;
  const cells = [
    note === undefined ? title : `${title}; ${note}`,
    targets.map((target) => `\`${target}\``).join(', '),
    used.map(formatMemory).join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}

const formatMemory = ({ anonymous, limit }: MemoryUse): string =>
  limit === undefined ? `${anonymous} MiB` : `${anonymous} of ${limit} MiB`;
