/**
 * The documentation lists every metric, and only existing metrics.
 */
import { readFileSync } from 'node:fs';
import { METRICS } from '@portolan/server/observe/metrics/all.ts';
import { SKYDNS_METRICS } from '@portolan/server/observe/metrics/skydns.ts';
import { expect, it } from 'vitest';

const PAGE = 'docs/reference/metrics.md';

interface Item {
  readonly name: string;
  readonly labels: readonly string[];
  readonly meaning: string;
}

/** The items that begin with a metric, as in `name{label,label}`. */
function listItems(): readonly Item[] {
  const items = readFileSync(PAGE, 'utf8').matchAll(/^- `([a-z_]+)(?:\{([a-z_,]+)\})?`: (.*)$/gm);
  return [...items].map(([, name = '', labels = '', meaning = '']) => ({
    name,
    labels: labels === '' ? [] : labels.split(','),
    meaning,
  }));
}

function formerNames(): readonly string[] {
  return METRICS.map(({ formerName }) => formerName).filter((name) => name !== undefined);
}

/** The kind of a metric, by what the page says. */
function findKind(name: string): string {
  if (name.endsWith('_total')) return 'counter';
  return name === 'portolan_forward_duration_seconds' ? 'histogram' : 'gauge';
}

it('all metrics are in docs/reference/metrics.md, with their kind, labels and meaning', () => {
  const items = listItems().filter(({ name }) => /^(portolan|process)_/.test(name));
  expect(items.map(({ name }) => name).sort()).toEqual(
    ['portolan_build_info', ...METRICS.map(({ name }) => name), ...formerNames()].sort(),
  );
  const text = readFileSync(PAGE, 'utf8');
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    'Metrics in `_total` are counters, `portolan_forward_duration_seconds` is a histogram, and all others are gauges.',
  );
  for (const { name, type } of METRICS) expect(type, name).toBe(findKind(name));
  for (const { name, formerName } of METRICS)
    if (formerName !== undefined)
      expect(items).toContainEqual({ name: formerName, labels: [], meaning: `\`${name}\`` });
  for (const { name, labels, help } of METRICS)
    expect(items).toContainEqual({ name, labels: [...labels], meaning: help });
});

it('all metrics of SkyDNS are in docs/reference/metrics.md, under the names that they have unless they are given others', () => {
  const items = listItems().filter(({ name }) => name.startsWith('skydns_'));
  const metrics = Object.values(SKYDNS_METRICS);
  expect(items.map(({ name, meaning }) => [name, meaning]).sort()).toEqual(
    metrics.map(([lastPart, help]) => [`skydns_skydns_${lastPart}`, help]).sort(),
  );
  expect(readFileSync(PAGE, 'utf8')).toContain('Counters end in `_total`; the two others are histograms.');
  for (const [lastPart, , kind] of metrics)
    expect(kind, lastPart).toBe(lastPart.endsWith('_total') ? 'counter' : 'histogram');
});
