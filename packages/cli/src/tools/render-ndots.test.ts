import { compareReports } from '@portolan/ops/ndots/compare-reports.ts';
import { CountedQuestions } from '@portolan/ops/ndots/counted-questions.ts';
import { makeReport } from '@portolan/ops/ndots/report.ts';
import { PLAIN } from '@portolan/server/reasons/render-explanation.ts';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderKustomize, renderProgress, renderReport } from './render-ndots.ts';

const row = (client: string, name: string, outcome: string, count: number) => ({
  client,
  name,
  type: 'A',
  outcome,
  count,
  milliseconds: count,
  last: 0,
});
const ROWS = [
  row('10.1.0.7', 'www.example.com.shop.svc.cluster.local.', 'nxdomain', 9),
  row('10.1.0.7', 'www.example.com.svc.cluster.local.', 'nxdomain', 9),
  row('10.1.0.7', 'www.example.com.cluster.local.', 'nxdomain', 9),
  row('10.1.0.7', 'www.example.com.', 'answer', 9),
  row('10.1.0.7', 'cart.shop.shop.svc.cluster.local.', 'nxdomain', 2),
  row('10.1.0.7', 'cart.shop.svc.cluster.local.', 'answer', 2),
  row('10.1.0.8', 'www.example.com.', 'answer', 3),
];
const POD = {
  kind: 'Pod',
  metadata: {
    name: 'web-0',
    namespace: 'shop',
    ownerReferences: [{ kind: 'StatefulSet', name: 'web', controller: true }],
  },
  status: { podIP: '10.1.0.7' },
};

function report(rows: readonly object[], lost = 0) {
  const questions = new CountedQuestions();
  for (const data of [...rows, { domain: 'cluster.local.', seconds: 60, queries: 43, lost }])
    questions.add(data);
  return makeReport(questions, { objects: [POD], library: 'glibc', now: 0 });
}

it('prints a row for each workload, and what to change', () => {
  expect(renderReport(report(ROWS, 5), 20, PLAIN).split('\n')).toEqual([
    '1m of 1 server: 43 questions of 2 workloads, 31 (72 %) made by search lists, 27 (63 %) can be saved',
    '5 questions were not seen: there were too many',
    '',
    'workload              questions  searched  needed  waited   ndots      saves',
    'StatefulSet shop/web         40        31       2    29ms  5 -> 2  27 (68 %)',
    '10.1.0.8                      3         ?       0     0ms       5          -',
    '',
    'StatefulSet shop/web: ndots: 2 saves 27 of 40 questions, and breaks no name that was asked for',
    '  wasted  www.example.com (27)  cart.shop (2)',
    '  needs   cart.shop + svc.cluster.local (2)',
    '  write   cart.shop.svc.cluster.local. (saves 2)',
    `  do      kubectl -n shop patch statefulset web -p '{"spec":{"template":{"spec":{"dnsConfig":{"options":[{"name":"ndots","value":"2"}]}}}}}'`,
    '',
  ]);
  expect(renderReport(report(ROWS), 1, PLAIN)).toContain('\n1 more: see --rows\n');
});

it('prints patches for kustomize', () => {
  const { patches } = parse(renderKustomize(report(ROWS))) as {
    patches: readonly { target: object; patch: string }[];
  };
  expect(patches.map(({ target }) => target)).toEqual([
    { group: 'apps', version: 'v1', kind: 'StatefulSet', namespace: 'shop', name: 'web' },
  ]);
  expect(parse(patches[0]?.patch ?? '')).toMatchObject({ kind: 'StatefulSet', metadata: { name: 'web' } });
});

it('prints what has changed since an earlier time', () => {
  const before = report(ROWS);
  const now = report(ROWS.slice(3));
  expect(renderProgress(compareReports(before, now), PLAIN).split('\n')).toEqual([
    '',
    'since before          ndots  questions for a look-up',
    'StatefulSet shop/web      5             3.64 -> 1.18  better',
    '',
  ]);
  expect(renderProgress([], PLAIN)).toBe('\nsince before: no workload asks otherwise\n');
});
