/**
 * Metrics as scraped by Prometheus, compared with those of the original containers.
 */
import { readFileSync } from 'node:fs';
import {
  type Family,
  parsePrometheusText,
  seriesKey,
} from '@portolan/kernel/base/testing/prometheus-text.ts';

/** Fetches and parses. @throws PrometheusTextError for what is no valid text */
export async function scrape(url: string): Promise<ReadonlyMap<string, Family>> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`no metrics: ${url}: status ${response.status}`);
  return parsePrometheusText(await response.text());
}

/** @param file what an original gave @returns the series of it, each with its type, that are not among `ours` */
export function missingSeries(file: string, ours: ReadonlyMap<string, Family>): readonly string[] {
  const found = new Set(describeSeries(ours));
  return describeSeries(parsePrometheusText(readFileSync(file, 'utf8'))).filter(
    (series) => !found.has(series),
  );
}

function describeSeries(families: ReadonlyMap<string, Family>): readonly string[] {
  return [...families.values()].flatMap(({ type, samples }) =>
    samples.map((sample) => `${type} ${seriesKey(sample)}`),
  );
}
