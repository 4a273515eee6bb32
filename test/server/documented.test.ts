/**
 * Every flag and every metric stands in the documentation, and nothing else does.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SERVE_OPTIONS } from '../../src/cli/serve-options.ts';
import { HISTOGRAMS, METRICS } from '../../src/observe/metrics/all.ts';

/** What stands in code marks at the beginning of a table's row. */
function listRows(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1] ?? '');
}

it('all flags are in docs/flags.md, with their arguments', () => {
  expect([...listRows('docs/flags.md')].sort()).toEqual(SERVE_OPTIONS.map(({ flags }) => flags).sort());
});

it('all metrics are in docs/metrics.md, with their kind, labels and meaning', () => {
  expect([...listRows('docs/metrics.md')].sort()).toEqual(
    ['portolan_build_info', ...[...METRICS, ...HISTOGRAMS].map(({ name }) => name)].sort(),
  );
  const text = readFileSync('docs/metrics.md', 'utf8');
  for (const { name, help } of HISTOGRAMS) expect(text).toContain(`| \`${name}\` | histogram |  | ${help} |`);
  for (const { name, kind, labels, help } of METRICS)
    expect(text).toContain(
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
    );
});
