import { parseType } from '@portolan/dns/mnemonics.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer, WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { CLIENT, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { parseRecord } from '@portolan/sources/zone-files/zone-file.ts';
import { describe, expect, it } from 'vitest';
import { Dnssec } from './dnssec.ts';
import { makeKeyPair } from './testing/keys.ts';

const SOA = 'example. 60 IN SOA ns.example. host.example. 1 2 3 4 5';
const EIGHT_DAYS = 8 * 24 * 3600;

function read(line: string): ResourceRecord {
  const record = parseRecord(line);
  if ('data' in record) return record;
  throw new Error(`${line}: ${record.fault}`);
}

interface Sections {
  readonly rcode?: number;
  readonly truncated?: boolean;
  readonly answers?: readonly string[];
  readonly authorities?: readonly string[];
  readonly additionals?: readonly string[];
}

function makeAnswer({ answers = [], authorities = [], additionals = [], ...flags }: Sections): WholeAnswer {
  return {
    ...EMPTY_ANSWER,
    ...flags,
    answers: answers.map(read),
    authorities: authorities.map(read),
    additionals: additionals.map(read),
  };
}

function makeSubject({
  zones = ['example.'],
  keys = [makeKeyPair('example.', 257)],
  restored = NOTHING_RESTORED,
  capacity = 10_000,
} = {}) {
  const clock = new ManualClock();
  const metrics = new MetricRegistry();
  const options = { zones: zones.map((zone) => toKey(parseName(zone))), keys, capacity };
  const { handler } = new Dnssec(options, { clock, metrics, restored });
  const ask = async (name: string, type: string, behind: Answer = EMPTY_ANSWER, dnssecOk = true) => {
    const question = { name: parseName(name), type: parseType(type) ?? 0, class: CLASS.IN };
    const edns = { version: 0, udpSize: 1232, dnssecOk, extendedRcode: 0, options: [] };
    const query = new Query(question, { header: QUERY_HEADER, question, edns }, CLIENT);
    const answer = await handler.handle(query, () => behind);
    if (answer.kind === 'drop') throw new Error('no answer');
    return { answer, query, ...describeAnswer(toWholeAnswer(answer)) };
  };
  const count = (what: string) =>
    Number(new RegExp(`^coredns_dnssec_cache_${what}\\{.*\\} (\\d+)$`, 'm').exec(metrics.render())?.[1] ?? 0);
  return { ask, count, clock, handler };
}

/** Records without TTL and class; of signatures what they cover, by how many labels, for which zone and by which key. */
function describeAnswer({ rcode, answers, authorities, additionals }: WholeAnswer) {
  const show = (record: ResourceRecord) => {
    const [name, , , type, ...words] = presentRecord(record).split(' ');
    if (type !== 'RRSIG') return [name, type, ...words].join(' ');
    const [covered, , labels, , , , tag, signer] = words;
    return `${name} RRSIG ${covered} ${labels} ${tag} ${signer}`;
  };
  return {
    rcode,
    shown: answers.map(show),
    authority: authorities.map(show),
    additional: additionals.map(show),
  };
}

const NAME_TYPES = 'HINFO TXT AAAA LOC SRV CERT SSHFP RRSIG NSEC TLSA HIP OPENPGPKEY SPF';
const SIGNED_SOA = ['example. SOA ns.example. host.example. 1 2 3 4 5', 'example. RRSIG SOA 1 3613 example.'];

describe('an answer with records', () => {
  const answer = makeAnswer({
    answers: ['www.example. 60 IN A 192.0.2.1', 'www.example. 60 IN A 192.0.2.2'],
    authorities: ['example. 60 IN NS ns.example.'],
    additionals: ['ns.example. 60 IN A 192.0.2.53'],
  });

  it('has a signature for each set, in its section', async () => {
    const { ask } = makeSubject();
    const { shown, authority, additional } = await ask('www.example.', 'A', answer);
    expect(shown).toEqual([
      'www.example. A 192.0.2.1',
      'www.example. A 192.0.2.2',
      'www.example. RRSIG A 2 3613 example.',
    ]);
    expect(authority).toEqual(['example. NS ns.example.', 'example. RRSIG NS 1 3613 example.']);
    expect(additional).toEqual(['ns.example. A 192.0.2.53', 'ns.example. RRSIG A 2 3613 example.']);
  });

  it('stays as it is without DO, outside the zones, truncated, and in a transfer', async () => {
    const { ask } = makeSubject();
    expect((await ask('www.example.', 'A', answer, false)).answer).toBe(answer);
    expect((await ask('www.example.org.', 'A', answer)).answer).toBe(answer);
    expect((await ask('example.', 'AXFR', answer)).answer).toBe(answer);
    const cut = { ...answer, truncated: true };
    expect((await ask('www.example.', 'A', cut)).answer).toBe(cut);
    const failure = { kind: 'servfail' } as const;
    expect((await ask('www.example.', 'A', failure)).answer).toBe(failure);
  });

  it('has the signatures of each zone of its aliases', async () => {
    const { ask } = makeSubject({ zones: ['example.', 'sub.example.', 'other.example.'] });
    const aliases = makeAnswer({
      answers: [
        'a.sub.example. 60 IN CNAME b.other.example.',
        'b.other.example. 60 IN CNAME c.elsewhere.',
        'c.elsewhere. 60 IN A 192.0.2.1',
      ],
    });
    expect((await ask('a.sub.example.', 'A', aliases)).shown.slice(3)).toEqual([
      'a.sub.example. RRSIG CNAME 3 3613 sub.example.',
      'b.other.example. RRSIG CNAME 3 3613 other.example.',
    ]);
  });

  it('has signatures once that it has already', async () => {
    const { ask } = makeSubject();
    const { answer: signed } = await ask('www.example.', 'A', answer);
    const again = await ask('www.example.', 'A', signed);
    expect(again.answer).toEqual(signed);
  });

  it('has the labels of a wildcard without the asterisk', async () => {
    const { ask } = makeSubject();
    const wildcard = makeAnswer({ answers: ['*.w.example. 60 IN A 192.0.2.1'] });
    expect((await ask('*.w.example.', 'A', wildcard)).shown[1]).toBe('*.w.example. RRSIG A 2 3613 example.');
  });
});

describe('a denial', () => {
  const nxdomain = makeAnswer({ rcode: RCODE.NXDOMAIN, authorities: [SOA] });
  const nodata = makeAnswer({ authorities: [SOA] });

  it('of a name is one of the type, by an NSEC record for the name', async () => {
    const { ask } = makeSubject();
    const { rcode, authority } = await ask('No.example.', 'A', nxdomain);
    expect(rcode).toBe(RCODE.NOERROR);
    expect(authority).toEqual([
      ...SIGNED_SOA,
      'No.example. RRSIG NSEC 2 3613 example.',
      `No.example. NSEC \\000.no.example. ${NAME_TYPES}`,
    ]);
  });

  it('lists what the apex may have', async () => {
    const { ask } = makeSubject();
    expect((await ask('example.', 'MX', nodata)).authority[3]).toBe(
      `example. NSEC \\000.example. A NS SOA HINFO TXT AAAA LOC SRV CERT SSHFP RRSIG NSEC DNSKEY TLSA HIP OPENPGPKEY SPF`,
    );
  });

  it('of DS records shows a delegation without them', async () => {
    const { ask } = makeSubject();
    expect((await ask('sub.example.', 'DS', nodata)).authority[3]).toBe(
      `sub.example. NSEC \\000.sub.example. A NS ${NAME_TYPES}`,
    );
  });

  it('of NSEC records has them in the answer', async () => {
    const { ask } = makeSubject();
    const { shown, authority } = await ask('www.example.', 'NSEC', nodata);
    expect([shown, authority]).toEqual([
      ['www.example. RRSIG NSEC 2 3613 example.', `www.example. NSEC \\000.www.example. A ${NAME_TYPES}`],
      [],
    ]);
  });

  it('stays as it is with a proof of its own, or without SOA', async () => {
    const { ask } = makeSubject();
    const proven = makeAnswer({
      rcode: RCODE.NXDOMAIN,
      authorities: [SOA, 'a.example. 60 IN NSEC b.example. A'],
    });
    expect((await ask('aa.example.', 'A', proven)).answer).toBe(proven);
    const bare = makeAnswer({ rcode: RCODE.NXDOMAIN });
    expect(await ask('aa.example.', 'A', bare)).toMatchObject({ rcode: RCODE.NXDOMAIN, authority: [] });
  });

  it('has no NSEC record where no name can follow', async () => {
    const { ask } = makeSubject();
    const name = `${`${'a'.repeat(61)}.`.repeat(3)}${'b'.repeat(59)}.example.`;
    const { rcode, authority } = await ask(name, 'A', nxdomain);
    expect([rcode, authority]).toEqual([RCODE.NOERROR, SIGNED_SOA]);
  });

  it.each([
    ['NXDOMAIN', RCODE.NXDOMAIN],
    ['NODATA', RCODE.NOERROR],
  ])('behind an alias (%s) is one of the target', async (_, rcode) => {
    const answer = makeAnswer({
      rcode,
      answers: ['www.example. 60 IN CNAME no.example.'],
      authorities: [SOA],
    });
    const { ask } = makeSubject();
    expect(await ask('www.example.', 'A', answer)).toMatchObject({
      rcode: RCODE.NOERROR,
      shown: ['www.example. CNAME no.example.', 'www.example. RRSIG CNAME 2 3613 example.'],
      authority: [
        ...SIGNED_SOA,
        'no.example. RRSIG NSEC 2 3613 example.',
        `no.example. NSEC \\000.no.example. ${NAME_TYPES}`,
      ],
    });
    const compat = makeSubject({ restored: new Set(['signed-denials']) });
    const { shown, authority } = await compat.ask('www.example.', 'A', answer);
    const isNxdomain = rcode === RCODE.NXDOMAIN;
    expect(shown).toHaveLength(isNxdomain ? 1 : 2);
    expect(authority).toHaveLength(isNxdomain ? 4 : 2);
  });
});

describe('a delegation', () => {
  const NS = 'sub.example. 60 IN NS ns.sub.example.';
  const glue = 'ns.sub.example. 60 IN A 192.0.2.1';

  it('without DS records is shown to have none, and its glue is not signed', async () => {
    const { ask } = makeSubject();
    const referral = makeAnswer({ authorities: [NS], additionals: [glue] });
    expect(await ask('a.sub.example.', 'A', referral)).toMatchObject({
      authority: [
        'sub.example. NS ns.sub.example.',
        'sub.example. RRSIG NSEC 2 3613 example.',
        `sub.example. NSEC sub\\000.example. A NS ${NAME_TYPES}`,
      ],
      additional: ['ns.sub.example. A 192.0.2.1'],
    });
    const compat = makeSubject({ restored: new Set(['signed-denials']) });
    expect((await compat.ask('a.sub.example.', 'A', referral)).authority[2]).toBe(
      `a.sub.example. NSEC a\\000.sub.example. A NS ${NAME_TYPES}`,
    );
  });

  it('with DS records has them signed', async () => {
    const { ask } = makeSubject();
    const referral = makeAnswer({ authorities: [NS, 'sub.example. 60 IN DS 1 15 2 00'] });
    expect((await ask('a.sub.example.', 'A', referral)).authority.slice(1)).toEqual([
      'sub.example. DS 1 15 2 00',
      'sub.example. RRSIG DS 2 3613 example.',
    ]);
  });
});

describe('keys', () => {
  it('are answered for the zones themselves, with signatures for those that want them', async () => {
    const { ask } = makeSubject();
    const plain = await ask('Example.', 'DNSKEY', EMPTY_ANSWER, false);
    expect(plain.shown).toEqual(['example. DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=']);
    expect(plain.answer).toMatchObject({ authoritative: true });
    expect((await ask('example.', 'DNSKEY')).shown[1]).toBe('example. RRSIG DNSKEY 1 3613 example.');
    expect((await ask('www.example.', 'DNSKEY', makeAnswer({ authorities: [SOA] }))).authority).toHaveLength(
      4,
    );
  });

  it('that sign keys sign only these where others are there too', async () => {
    const { ask } = makeSubject({ keys: [makeKeyPair('example.', 257, 0), makeKeyPair('example.', 256, 1)] });
    const { shown } = await ask('example.', 'DNSKEY');
    expect(shown.slice(2)).toEqual(['example. RRSIG DNSKEY 1 3613 example.']);
    const answer = makeAnswer({ answers: ['a.example. 60 IN A 192.0.2.1'] });
    expect((await ask('a.example.', 'A', answer)).shown.slice(1)).toEqual([
      'a.example. RRSIG A 2 35216 example.',
    ]);
  });

  it('sign all records where they are of one kind', async () => {
    const { ask } = makeSubject({ keys: [makeKeyPair('example.', 257, 0), makeKeyPair('example.', 257, 1)] });
    const answer = makeAnswer({ answers: ['a.example. 60 IN A 192.0.2.1'] });
    expect((await ask('a.example.', 'A', answer)).shown.slice(1)).toEqual([
      'a.example. RRSIG A 2 3613 example.',
      'a.example. RRSIG A 2 35217 example.',
    ]);
  });

  it('are missing: nothing is signed, as in CoreDNS', async () => {
    const { ask, count } = makeSubject({ keys: [] });
    const { authority, rcode } = await ask('no.example.', 'A', makeAnswer({ rcode: 3, authorities: [SOA] }));
    expect(rcode).toBe(RCODE.NOERROR);
    expect(authority).toHaveLength(2);
    expect(count('entries')).toBe(0);
  });
});

describe('signatures', () => {
  const answer = makeAnswer({ answers: ['a.example. 60 IN A 192.0.2.1'] });
  const readSignature = ({ answer: made }: { readonly answer: Answer }) => {
    const [, signature] = made.kind === 'message' ? made.answers : [];
    return signature?.data.kind === 'unknown' ? Buffer.from(signature.data.bytes).toString('hex') : '';
  };

  it('are made once for a set, whatever its TTL, letters and order', async () => {
    const { ask, count } = makeSubject();
    const first = await ask('a.example.', 'A', answer);
    expect(first.query.isDerived).toBe(false);
    const other = makeAnswer({ answers: ['A.example. 7 IN A 192.0.2.1'] });
    const second = await ask('a.example.', 'A', other);
    expect(readSignature(second)).toBe(readSignature(first));
    expect(second.query.isDerived).toBe(true);
    expect(second.query.counts).toHaveLength(1);
    expect([count('hits_total'), count('misses_total'), count('entries')]).toEqual([1, 1, 1]);
  });

  it('are made again two days before they expire', async () => {
    const { ask, count, clock } = makeSubject();
    const first = await ask('a.example.', 'A', answer);
    clock.advance((EIGHT_DAYS / 4) * 3 * 1000);
    expect(readSignature(await ask('a.example.', 'A', answer))).toBe(readSignature(first));
    clock.advance(1000);
    expect(readSignature(await ask('a.example.', 'A', answer))).not.toBe(readSignature(first));
    expect([count('hits_total'), count('misses_total'), count('entries')]).toEqual([1, 2, 1]);
  });
});

it('concerns only clients that want signatures, but for keys', () => {
  const { handler } = makeSubject();
  const zone = toKey(parseName('example.'));
  expect([...handler.questions.matches()]).toEqual([
    { name: { kind: 'suffix', name: zone }, types: 'all', dnssecOk: true },
    { name: { kind: 'exact', name: zone }, types: new Set([TYPE.DNSKEY]) },
  ]);
});
