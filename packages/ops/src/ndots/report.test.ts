import { expect, it } from 'vitest';
import { compareReports, readReport } from './compare-reports.ts';
import { CountedQuestions, readQuestions } from './counted-questions.ts';
import { makeReport } from './report.ts';
import { type AskingProgram, listAskedRows, SHOP_SEARCH } from './testing/asked-rows.ts';

const OUTCOMES = new Map([
  ['cart.shop.svc.cluster.local.', 'answer'],
  ['www.example.com.', 'answer'],
] as const);
const PROGRAM: AskingProgram = {
  search: SHOP_SEARCH,
  ndots: 5,
  library: 'glibc',
  outcomes: OUTCOMES,
  given: [
    { name: 'cart', times: 5 },
    { name: 'www.example.com', times: 10 },
  ],
};
const END = { domain: 'cluster.local.', seconds: 60, queries: 90, lost: 0 };

const pod = (ndots: number) => ({
  kind: 'Pod',
  metadata: {
    name: 'web-5d4-x',
    namespace: 'shop',
    labels: { 'pod-template-hash': '5d4' },
    ownerReferences: [{ kind: 'ReplicaSet', name: 'web-5d4', controller: true }],
  },
  spec: { dnsConfig: { options: [{ name: 'ndots', value: String(ndots) }] } },
  status: { podIP: '10.244.0.7' },
});

function report(objects: readonly object[], ndots = 5, servers = 1) {
  const questions = new CountedQuestions();
  for (const data of [...listAskedRows({ ...PROGRAM, ndots }), END])
    for (let server = 0; server < servers; server++) expect(questions.add(data)).toBe(true);
  expect(questions.add({ some: 'object' })).toBe(false);
  return makeReport(questions, { objects, library: 'glibc', now: 0 });
}

it('reports a workload, and the same of two servers', () => {
  const { workloads, ...all } = report([pod(5)]);
  expect(all).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    seconds: 60,
    servers: 1,
    questions: 90,
    lost: 0,
    searched: 70,
    saved: 60,
  });
  expect(workloads).toMatchObject([
    {
      kind: 'Deployment',
      namespace: 'shop',
      name: 'web',
      clients: 1,
      questions: 90,
      lookUps: 30,
      searched: 70,
      needed: 10,
      waited: 30,
      needs: [{ name: 'cart', suffix: 'shop.svc.cluster.local', lookUps: 10 }],
      wasted: [{ name: 'www.example.com', questions: 60 }],
      change: { ndots: 2, saved: 60, kubectl: expect.stringContaining('patch deployment web') },
    },
  ]);
  expect(report([pod(5)], 5, 2)).toMatchObject({ servers: 2, questions: 180, saved: 120 });
});

it('names a client by its address and the namespace that its names show', () => {
  expect(report([]).workloads).toMatchObject([
    { kind: 'Client', namespace: 'shop', name: '10.244.0.7', change: { ndots: 2, kubectl: undefined } },
  ]);
});

it('shows that a change has helped', () => {
  const before = report([pod(5)]);
  const now = report([pod(2)], 2);
  expect(compareReports(before, now)).toEqual([
    {
      kind: 'Deployment',
      namespace: 'shop',
      name: 'web',
      before: { ndots: 5, lookUps: 30, questionsEach: 3 },
      now: { ndots: 2, lookUps: 30, questionsEach: 1 },
      verdict: 'better',
    },
  ]);
  expect(compareReports(now, before)).toMatchObject([{ verdict: 'worse' }]);
  expect(compareReports(before, before)).toEqual([]);
});

it('reads what others wrote', () => {
  const before = report([pod(5)]);
  expect(readReport(JSON.parse(JSON.stringify(before)))).toMatchObject({ saved: 60 });
  expect(readReport({ ...before, workloads: [{}] })).toBeUndefined();
  expect(readReport(undefined)).toBeUndefined();
  expect(readQuestions([pod(5)])).toBeUndefined();
  const rows = [...listAskedRows(PROGRAM), END];
  expect(readQuestions([pod(5), { portolanQuestions: rows }, { portolanQuestions: rows }])).toMatchObject({
    servers: 2,
    queries: 180,
  });
});
