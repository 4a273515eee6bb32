/**
 * The table and the plain chain give the same answer, for any cluster and any question.
 */
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import {
  arbitraryObjects,
  arbitraryQuestionName,
  LIKELY_NAMES,
} from '@portolan/kubernetes/testing/arbitrary-objects.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';

const { A, AAAA, SRV, CNAME, PTR, TXT, NS, SOA, ANY } = TYPE;
const arbitraryType = fc.constantFrom(
  A,
  AAAA,
  SRV,
  CNAME,
  PTR,
  TXT,
  NS,
  SOA,
  ANY,
  ANY,
  TYPE.AXFR,
  TYPE.OPT,
  65_280,
);
const arbitraryClass = fc.constantFrom(CLASS.IN, CLASS.IN, CLASS.IN, CLASS.CH, 255);
const arbitraryQuestion = fc.tuple(arbitraryQuestionName, arbitraryType, arbitraryClass);
const arbitrarySetting = fc.record({
  objects: arbitraryObjects,
  questions: fc.array(arbitraryQuestion, { minLength: 30, maxLength: 30 }),
  pods: fc.constantFrom('disabled', 'insecure', 'verified'),
  isListed: fc.constantFrom(true, true, false),
  namesSpecialAddresses: fc.boolean(),
});

const LIKELY = LIKELY_NAMES.flatMap((name) =>
  [A, AAAA, SRV, ANY].map((type) => [name, type, CLASS.IN] as const),
);

describe.each(['coredns', 'kube-dns'] as const)('%s: for any cluster and any question', (dialect) => {
  it('the table says what the chain says, or asks it', { timeout: 60_000 }, async () => {
    let answered = 0;
    let withRecords = 0;
    await fc.assert(
      fc.asyncProperty(arbitrarySetting, async ({ objects, questions, pods, isListed, ...options }) => {
        const cluster = new AskableCluster(dialect, { pods, ...options });
        if (isListed) cluster.list(objects);
        else cluster.begin(objects);
        for (const [name, type, dnsClass] of [...LIKELY, ...questions]) {
          const asked = { ...question(name, type), class: dnsClass };
          const byTable = cluster.askTable(asked);
          const byChain = await cluster.askChain(asked);
          if (byTable === undefined) continue;
          answered += 1;
          if (byTable.answers.length > 0) withRecords += 1;
          expect(recordMessage(byTable)).toEqual(recordMessage(byChain));
          expect(byTable.header).toEqual(byChain.header);
        }
      }),
      { numRuns: 60 },
    );
    expect(answered).toBeGreaterThan(300);
    expect(withRecords).toBeGreaterThan(10);
  });
});
