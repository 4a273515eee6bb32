/**
 * Writes families in the text format of Prometheus, version 0.0.4:
 * https://github.com/prometheus/docs/blob/main/docs/instrumenting/exposition_formats.md
 */
import { formatNumber, type Labels, type MetricFamily, type Sample } from './family.ts';

export const METRICS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

/** Writes all families in this order, with an empty line between two of them. */
export function writeFamilies(families: readonly MetricFamily[]): string {
  return families.map((family) => writeFamily(family, [...family.read()])).join('\n');
}

/** Writes families sorted by name and without those that have no samples, as exporters in Go do. */
export function writeSortedFamilies(families: readonly MetricFamily[]): string {
  return families
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((family) => [family, [...family.read()]] as const)
    .filter(([, samples]) => samples.length > 0)
    .map(([family, samples]) => writeFamily(family, samples))
    .join('');
}

function writeFamily({ name, help, type }: MetricFamily, samples: readonly Sample[]): string {
  const lines = samples.map(
    ([labels, value, suffix = '']) => `${name}${suffix}${writeLabels(labels)} ${formatNumber(value)}\n`,
  );
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** `{system="auth"}`; empty without labels. Plugins in JavaScript may have values that are no strings. */
function writeLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escapeHelp(String(value ?? '')).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join()}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
