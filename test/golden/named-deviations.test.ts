/**
 * Comparisons of two servers name each difference from the recorded answers by the row of the documentation that it falls under.
 */
import { parseType } from '@portolan/dns/mnemonics.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { type DescribedReply, describeReply } from '@portolan/ops/compare/described-reply.ts';
import { judgeMessages, maskOwn } from '@portolan/ops/compare/judge-replies.ts';
import { findDeviation } from '@portolan/ops/compare/known-deviations.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { goldenObjects } from './golden-objects.ts';
import { type RecordedAnswer, readRecorded } from './recorded-answer.ts';

/** What was not recorded is taken from our reply. */
function describeRecorded(recorded: RecordedAnswer, ours: DescribedReply): DescribedReply {
  const flags = ours.flags.filter((flag) => flag !== 'aa');
  const lines = (records: readonly string[]) =>
    records.map((record) => record.replace(/^(\S+ \S+) /, '$1 IN '));
  const { rcode, aa, answer, authority, additional } = recorded;
  return {
    ...ours,
    rcode,
    flags: aa ? ['aa', ...flags] : flags,
    answer: lines(answer),
    authority: lines(authority),
    additional: lines(additional),
  };
}

/** Texts are as recorded, in lower case; the questions may have capitals. */
function inLowerCase(reply: DescribedReply): DescribedReply {
  const lower = (records: readonly string[]) =>
    [...new Set(records)].map((record) =>
      record.replace(/^(\S+ \S+ \S+ \S+ )(.*)/, (_, head: string, data: string) => head + data.toLowerCase()),
    );
  const { answer, authority, additional } = reply;
  return { ...reply, answer: lower(answer), authority: lower(authority), additional: lower(additional) };
}

/** CoreDNS passed these on to a server that refused them; here nothing is behind the cluster. */
const isPassedOn = ({ rcode }: RecordedAnswer) => rcode === 'REFUSED' || rcode === 'TIMEOUT';

/** The reply does not show that two endpoints share a hostname: one of them could as well be missing. */
const isAmbiguous = ({ name, type }: RecordedAnswer) => /^split\.data\.svc\./i.test(name) && type === 'A';

describe.each(['coredns', 'kube-dns'] as const)('differences from the recorded answers of %s', (dialect) => {
  const cluster = new AskableCluster(dialect, {}, []);
  beforeAll(() => cluster.list(goldenObjects()));

  it('all have names', async () => {
    const unnamed: unknown[] = [];
    const names = new Set<string>();
    for (const recorded of readRecorded(dialect)) {
      if (isPassedOn(recorded)) continue;
      const asked = question(recorded.name, parseType(recorded.type) ?? 0);
      const ours = inLowerCase(maskOwn(describeReply(await cluster.askChain(asked))));
      const theirs = inLowerCase(maskOwn(describeRecorded(recorded, ours)));
      const verdict = judgeMessages(asked, [theirs, ours], ['recorded', 'ours'], findDeviation);
      if (verdict.kind === 'equal' || isAmbiguous(recorded)) continue;
      const name = verdict.kind === 'different' ? verdict.deviation?.name : undefined;
      if (name === undefined) unnamed.push({ asked: `${recorded.name} ${recorded.type}`, ...verdict });
      else names.add(name);
    }
    expect(unnamed).toEqual([]);
    expect(names.size).toBeGreaterThan(1);
  });
});
