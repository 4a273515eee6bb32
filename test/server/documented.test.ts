/**
 * The documentation lists every metric, and only existing metrics.
 */
import { readFileSync } from 'node:fs';
import { METRICS } from '@portolan/server/observe/metrics/all.ts';
import { SKYDNS_METRICS } from '@portolan/server/observe/metrics/skydns.ts';
import { expect, it } from 'vitest';

/** What stands in code marks at the beginning of a table's row. */
function listRows(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1] ?? '');
}

function formerNames(): readonly string[] {
  return METRICS.map(({ formerName }) => formerName).filter((name) => name !== undefined);
}

it('all metrics are in docs/reference/metrics.md, with their kind, labels and meaning', () => {
  const own = listRows('docs/reference/metrics.md').filter((name) => /^(portolan|process)_/.test(name));
  expect([...own].sort()).toEqual(
    ['portolan_build_info', ...METRICS.map(({ name }) => name), ...formerNames()].sort(),
  );
  const text = readFileSync('docs/reference/metrics.md', 'utf8');
  for (const { name, formerName } of METRICS)
    if (formerName !== undefined) expect(text).toContain(`| \`${formerName}\` | \`${name}\` |`);
  for (const { name, type, labels, help } of METRICS)
    expect(text).toContain(
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
    );
});

it('all metrics of SkyDNS are in docs/reference/metrics.md, under the names that they have unless they are given others', () => {
  const names = listRows('docs/reference/metrics.md').filter((name) => name.startsWith('skydns_'));
  const metrics = Object.values(SKYDNS_METRICS);
  expect([...names].sort()).toEqual(metrics.map(([lastPart]) => `skydns_skydns_${lastPart}`).sort());
  const text = readFileSync('docs/reference/metrics.md', 'utf8');
  for (const [lastPart, help, kind] of metrics)
    expect(text).toMatch(
      new RegExp(
        `^\\| \`skydns_skydns_${lastPart}\` \\| ${kind} \\| .* \\| ${help.replaceAll(/\W/g, '.')} \\|$`,
        'm',
      ),
    );
});
