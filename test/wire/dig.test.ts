import { minimalAnyRecord } from '@portolan/dns/minimal-any.ts';
import { type AnswerableQuery, type RejectedQuery, respond } from '@portolan/dns/query.ts';
import { sampleRecords } from '@portolan/dns/testing/sample-records.ts';
import { CLASS, OPCODE, RCODE, TYPE } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import { itWithTool } from '../support/tools.ts';
import { exchange, recordLines } from './loopback-server.ts';

const DIG = ['dig', '+tries=1', '+time=5', '+nosplit', '+noall', '+answer'] as const;
const KDIG = ['kdig', '+retry=0', '+time=5', '+noall', '+answer', '+class', '+ttl'] as const;

function answerWithSamples(query: AnswerableQuery | RejectedQuery) {
  return respond(query, { authoritative: true, answers: sampleRecords.map(({ record }) => record) });
}

function refuse(query: AnswerableQuery | RejectedQuery) {
  return respond(query, { rcode: query.kind === 'error' ? query.rcode : RCODE.REFUSED });
}

describe('what we write', () => {
  itWithTool('dig', 'is read by dig, record by record', async () => {
    const { output } = await exchange([...DIG, 'x.example', 'TXT'], answerWithSamples);
    expect(recordLines(output)).toEqual(sampleRecords.map(({ line }) => line));
  });

  itWithTool('kdig', 'is read by kdig, record by record', async () => {
    const { output } = await exchange([...KDIG, 'x.example', 'TXT'], answerWithSamples);
    // kdig leaves protocols without quotes and names keys by other rules.
    const isOwnVersion = (line: string) => / (?:HTTPS|SVCB) /.test(line);
    const lines = sampleRecords.map(({ line }) => line);
    const shown = recordLines(output);
    expect(shown.length).toBe(lines.length);
    expect(shown.filter((line) => !isOwnVersion(line))).toEqual(lines.filter((line) => !isOwnVersion(line)));
  });

  itWithTool('dig', 'has flags, sections and EDNS as dig shows them', async () => {
    const { output } = await exchange(
      ['dig', '+tries=1', '+dnssec', '+cd', '+nocookie', 'ExAmPle', 'A'],
      (query) =>
        respond(query, {
          rcode: RCODE.NXDOMAIN,
          authoritative: true,
          recursionAvailable: true,
          authorities: sampleRecords.slice(6, 7).map(({ record }) => record),
        }),
    );
    expect(output).toMatch(/status: NXDOMAIN/);
    expect(output).toMatch(/flags: qr aa rd ra cd; QUERY: 1, ANSWER: 0, AUTHORITY: 1, ADDITIONAL: 1/);
    expect(output).toMatch(/EDNS: version: 0, flags: do; udp: 1232/);
    expect(output).toMatch(/^;ExAmPle\.\s+IN\s+A$/m);
    expect(output).not.toMatch(/WARNING|malformed|extra/i);
  });

  itWithTool('kdig', 'has flags, sections and EDNS as kdig shows them', async () => {
    const { output } = await exchange(
      ['kdig', '+retry=0', '+edns', '+dnssec', 'example', 'ANY', '+notcp'],
      (query) => respond(query, { answers: query.question ? [minimalAnyRecord(query.question.name)] : [] }),
    );
    expect(output).toMatch(/Flags: qr rd; QUERY: 1; ANSWER: 1; AUTHORITY: 0; ADDITIONAL: 1/);
    expect(output).toMatch(/EDNS PSEUDOSECTION:\s+;; Version: 0; flags: do; UDP size: 1232 B/);
    expect(recordLines(output)).toEqual(['example. 8482 IN HINFO "RFC8482" ""']);
    expect(output).not.toMatch(/WARNING|malformed/i);
  });

  itWithTool('dig', 'says BADVERS in both of its halves', async () => {
    const { output, queries } = await exchange(
      ['dig', '+tries=1', '+edns=1', '+noednsneg', 'example', 'A'],
      refuse,
    );
    expect(queries).toMatchObject([{ kind: 'error', rcode: RCODE.BADVERS, edns: { version: 0 } }]);
    expect(output).toMatch(/status: BADVERS/);
  });
});

describe('what dig asks', () => {
  itWithTool('dig', 'is read with all its options', async () => {
    const { queries } = await exchange(
      [
        ...DIG,
        '+subnet=10.1.0.0/16',
        '+cookie=0123456789abcdef',
        '+nsid',
        '+bufsize=4096',
        '+dnssec',
        'Version.BIND',
        'TXT',
        'CH',
      ],
      refuse,
    );
    expect(queries).toMatchObject([
      {
        kind: 'query',
        question: { name: 'Version.BIND.', type: TYPE.TXT, class: CLASS.CH },
        header: { opcode: OPCODE.QUERY, recursionDesired: true, response: false },
        edns: { version: 0, udpSize: 4096, dnssecOk: true },
      },
    ]);
    const codes = queries.flatMap((query) =>
      query.kind === 'drop' ? [] : (query.edns?.options.map(({ code }) => code) ?? []),
    );
    expect(codes.sort((one, other) => one - other)).toEqual([3, 8, 10]);
  });

  itWithTool('dig', 'without EDNS, with escapes and without recursion is read', async () => {
    const { queries } = await exchange(
      [...DIG, '+noedns', '+norecurse', 'a\\.b\\000c\\032.example', 'TYPE65280'],
      refuse,
    );
    expect(queries).toMatchObject([
      {
        kind: 'query',
        question: { name: 'a\\.b\\000c\\032.example.', type: 65_280, class: CLASS.IN },
        header: { recursionDesired: false },
        edns: undefined,
      },
    ]);
  });

  itWithTool('dig', 'with another opcode is NOTIMP, and without a question FORMERR', async () => {
    const notify = await exchange(['dig', '+tries=1', '+opcode=notify', '+noedns', 'example', 'SOA'], refuse);
    expect(notify.output).toMatch(/opcode: NOTIFY, status: NOTIMP/);
    const empty = await exchange(['dig', '+tries=1', '+header-only', '+noedns', 'example'], refuse);
    expect(empty.output).toMatch(/status: FORMERR/);
  });

  itWithTool('kdig', 'and what kdig asks is read', async () => {
    const { queries } = await exchange(
      [...KDIG, '+bufsize=1400', '+padding=64', '+nsid', '-x', '2001:db8::1'],
      refuse,
    );
    expect(queries).toMatchObject([
      {
        kind: 'query',
        question: {
          name: '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
          type: TYPE.PTR,
        },
        edns: { udpSize: 1400 },
      },
    ]);
  });
});

describe('the samples', () => {
  it('have every type of the table once at least', () => {
    const kinds = new Set(sampleRecords.map(({ record }) => record.data.kind));
    expect(kinds.size).toBe(16);
  });
});
