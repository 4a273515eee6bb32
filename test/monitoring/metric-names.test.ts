/**
 * Each metric in an alert or a panel is one that the program shows, and the commands of the runbook page run.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { NodeCacheMetrics } from '@portolan/frontends/node-cache/network/node-cache-metrics.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALERTS, RECORDING_RULES } from '../../scripts/generate/monitoring/alerts.ts';
import { DASHBOARDS } from '../../scripts/generate/monitoring/dashboards.ts';
import { METRICS_SCRIPT } from '../../scripts/generate/monitoring/rules-file.ts';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, look, runPortolan, servePortolan } from '../support/portolan.ts';

const run = promisify(execFile);
/** Of Prometheus itself. */
const FOREIGN = new Set(['up']);
let shown: ReadonlySet<string> = new Set();
let states: ReadonlySet<string> = new Set();
let metricsPort = '';

/** The metrics of an expression; recording rules have colons. */
function listMetrics(expression: string): readonly string[] {
  const names = [...expression.matchAll(/(?<![\w:"$])([a-z][\w:]*)\{/g)].map(([, name = '']) => name);
  return names.filter((name) => !name.includes(':') && !FOREIGN.has(name));
}

const toFamilyName = (metric: string): string => metric.replace(/_bucket$/, '');

async function scrapeCorefile(): Promise<string> {
  const folder = await makeTemporaryFolder(afterFile);
  const dns = await findFreePort();
  const metrics = await findFreePort();
  const corefile = `.:${dns} {
    bind 127.0.0.1
    prometheus 127.0.0.1:${metrics}
    forward . 127.0.0.1:${await findFreePort()}
    cache
    reload
  }`;
  runPortolan(['coredns', '-conf', await folder.write('Corefile', corefile)]);
  metricsPort = String(metrics);
  let text = '';
  await waitUntil('metrics', async () => {
    text = await fetch(`http://127.0.0.1:${metrics}/metrics`).then(
      (response) => response.text(),
      () => '',
    );
    return text !== '';
  });
  return text;
}

/** The metrics that node-cache adds to those of a Corefile. */
async function renderNodeCache(): Promise<string> {
  const metrics = new NodeCacheMetrics();
  metrics.showRules({ rulesIn: undefined, missingRules: undefined, wantsRules: true });
  return await metrics.render();
}

beforeAll(async () => {
  const serving = await servePortolan(['--example']);
  // Neither is there: the metrics of both have all their states.
  const api = await findFreePort();
  const upstream = await findFreePort();
  const alone = await servePortolan([
    `--kube-master-url=http://127.0.0.1:${api}`,
    `--upstream=127.0.0.1:${upstream}`,
  ]);
  const ofStates = (await look(alone, '/metrics')).text;
  states = new Set(
    [...ofStates.matchAll(/^(\w+)\{.*state="(\w+)"/gm)].map(([, name, state]) => `${name} ${state}`),
  );
  const texts = [(await look(serving, '/metrics')).text, await scrapeCorefile(), await renderNodeCache()];
  shown = new Set(
    texts.flatMap((text) => [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name)),
  );
});
afterAll(endAllPrograms);

const expressions: readonly (readonly [string, string])[] = [
  ...RECORDING_RULES.map(({ record, expression }) => [record, expression] as const),
  ...ALERTS.map(({ name, expression }) => [name, expression] as const),
  ...DASHBOARDS.flatMap(({ title, panels }) =>
    panels.flatMap((panel) =>
      panel.queries.map(([expression]) => [`${title}: ${panel.title}`, expression] as const),
    ),
  ),
];

describe('a live scrape', () => {
  it.each(expressions)('has the metrics of %s', (_name, expression) => {
    const missing = listMetrics(expression).filter((metric) => !shown.has(toFamilyName(metric)));
    expect(missing).toEqual([]);
  });

  it.each(expressions)('has the states of %s', (_name, expression) => {
    for (const [, metric = '', values = ''] of expression.matchAll(/(\w+)\{[^}]*state!?=~?"([^"]+)"/g))
      for (const state of values.split('|')) expect(states).toContain(`${metric} ${state}`);
  });

  it('would miss a metric that is not there', () => {
    expect(listMetrics('sum(rate(coredns_forward_responses_total{job="x"}[5m]))')).toEqual([
      'coredns_forward_responses_total',
    ]);
    expect(shown.has('coredns_forward_responses_total')).toBe(false);
  });

  it('uses each recording rule, and no other', () => {
    const used = new Set(ALERTS.flatMap(({ expression }) => expression.match(/job:\w+:\w+/g) ?? []));
    expect([...used].sort()).toEqual(RECORDING_RULES.map(({ record }) => record).sort());
  });

  it.each(ALERTS)('is shown by the command of the section $name', async ({ shows }) => {
    const { stdout } = await run(process.execPath, ['-e', METRICS_SCRIPT, metricsPort, shows]);
    for (const line of stdout
      .trim()
      .split('\n')
      .filter((each) => each !== ''))
      expect(line).toMatch(new RegExp(shows));
    expect([...shown].some((name) => new RegExp(shows.replace(/\.\*.*$/, '')).test(name))).toBe(true);
  });
});
