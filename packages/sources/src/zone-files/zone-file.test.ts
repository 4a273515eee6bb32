import { parseName, ROOT } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { malformedRecords, sampleRecords } from '@portolan/dns/testing/sample-records.ts';
import { type AbsoluteName, CLASS, type RecordData, type ResourceRecord } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeZoneFileProblem, parseRecord, readZoneFile } from './zone-file.ts';

const ORIGIN = parseName('example.');

function read(text: string, files: Readonly<Record<string, string>> = {}) {
  const { records, problems, included, warnings } = readZoneFile(text, {
    file: '/zones/db',
    origin: ORIGIN,
    readInclude(path) {
      const found = files[path];
      if (found === undefined) throw new Error('no such file');
      return found;
    },
  });
  return {
    records: records.map(presentRecord),
    problems: problems.map(describeZoneFileProblem),
    included,
    warnings: warnings.map(({ text }) => text),
  };
}

const noTtl = (place: string) =>
  `${place}: the record and $TTL give no TTL, so it is 0: nobody may cache the record`;

describe('readZoneFile', () => {
  it('reads owners, TTLs, classes, comments, parentheses and strings', () => {
    const { records, problems } = read(
      [
        '; a comment',
        '$TTL 1h30m',
        '@ IN SOA ns1 host.example. ( ; opened',
        '    2026010101 ; serial',
        '    2h 1800 14d 60 )',
        '  NS ns1',
        'www 60 IN A 192.0.2.1 ; trailing',
        'www IN 61 A 192.0.2.2',
        '    AAAA 2001:db8::1',
        'abs.example.net. CH TXT "two words; no comment" bare \\"x\\" "a\\034b\\255"',
        'weird\\.dot IN A 192.0.2.3',
        '$ORIGIN sub',
        '@ IN A 192.0.2.4',
        '$ORIGIN .',
        'root IN A 192.0.2.5',
        '',
      ].join('\r\n'),
    );
    expect(problems).toEqual([]);
    expect(records).toEqual([
      'example. 5400 IN SOA ns1.example. host.example. 2026010101 7200 1800 1209600 60',
      'example. 5400 IN NS ns1.example.',
      'www.example. 60 IN A 192.0.2.1',
      'www.example. 61 IN A 192.0.2.2',
      'www.example. 5400 IN AAAA 2001:db8::1',
      'abs.example.net. 5400 CH TXT "two words; no comment" "bare" "\\"x\\"" "a\\"b\\255"',
      'weird\\.dot.example. 5400 IN A 192.0.2.3',
      'sub.example. 5400 IN A 192.0.2.4',
      'root. 5400 IN A 192.0.2.5',
    ]);
  });

  it('takes the last TTL where there is no $TTL, and 0 before any, which is named', () => {
    expect(read('\na IN A 192.0.2.1\na2 IN A 192.0.2.1\nb 60 IN A 192.0.2.2\nc IN A 192.0.2.3\n')).toEqual({
      records: [
        'a.example. 0 IN A 192.0.2.1',
        'a2.example. 0 IN A 192.0.2.1',
        'b.example. 60 IN A 192.0.2.2',
        'c.example. 60 IN A 192.0.2.3',
      ],
      problems: [],
      included: [],
      warnings: [noTtl('/zones/db:2')],
    });
    const files = { '/zones/sub': '\nx A 192.0.2.1\n' };
    expect(read('$INCLUDE sub\ny A 192.0.2.1\n', files)).toMatchObject({
      warnings: [noTtl('/zones/sub:2')],
    });
    expect(read('$TTL 0\na A 192.0.2.1\n').warnings).toEqual([]);
  });

  it('reads what CoreDNS reads though no RFC says so', () => {
    const { records, problems } = read(
      [
        '$TTL 60',
        'mixed 1h30 A 192.0.2.1',
        'large 4294967295 A 192.0.2.2',
        'nested ( ( A ) 192.0.2.3 )',
        'lines TXT "one',
        'two" ; a string',
        `long TXT ${'x'.repeat(256)}`,
        'b\u00fccher A 192.0.2.4',
        'svcb SVCB 1 . ohttp tls-supported-groups=29,23 key8=',
      ].join('\n'),
    );
    expect(records).toEqual([
      'mixed.example. 3630 IN A 192.0.2.1',
      'large.example. 0 IN A 192.0.2.2',
      'nested.example. 60 IN A 192.0.2.3',
      'lines.example. 60 IN TXT "one\\010two"',
      `long.example. 60 IN TXT "${'x'.repeat(255)}" "x"`,
      'b\\195\\188cher.example. 60 IN A 192.0.2.4',
    ]);
    // Lines are counted inside strings too.
    expect(problems).toEqual(['/zones/db:9: a parameter that was there before: "key8="']);
  });

  it('names service bindings that contradict themselves, which clients ignore', () => {
    const bindings = [
      '1 . mandatory=key123',
      '1 . mandatory=mandatory',
      '1 . mandatory=alpn,alpn alpn=h2',
      '1 . no-default-alpn',
      '1 . mandatory=alpn,no-default-alpn no-default-alpn alpn=h2',
      '1 . key1=h2',
      '0 .',
    ];
    const { records, problems, warnings } = read(
      `${bindings.map((each) => `a 60 HTTPS ${each}\n`).join('')}b 60 SVCB 1 . no-default-alpn\n`,
    );
    expect([records.length, problems]).toEqual([bindings.length + 1, []]);
    expect(warnings).toEqual([
      '/zones/db:1: clients ignore the HTTPS records of this name: key123 is mandatory, and not there',
      '/zones/db:2: clients ignore the HTTPS records of this name: mandatory is in its own list',
      '/zones/db:3: clients ignore the HTTPS records of this name: alpn is mandatory twice',
      '/zones/db:4: clients ignore the HTTPS records of this name: no-default-alpn without alpn',
      '/zones/db:6: clients ignore the HTTPS records of this name: no value of alpn',
      '/zones/db:8: clients ignore the SVCB records of this name: no-default-alpn without alpn',
    ]);
  });

  it('reads the value of a parameter by its number as octets', () => {
    const { records, problems } = read(
      'a 60 HTTPS 1 . key0=\\000\\001 key1="\\002h2" key3=\\001\\187 key4=\\192\\000\\002\\001 key5\n',
    );
    expect(problems).toEqual([]);
    expect(records).toEqual([
      'a.example. 60 IN HTTPS 1 . mandatory=alpn alpn="h2" port=443 ipv4hint=192.0.2.1 ech',
    ]);
  });

  it('reads control characters in names as octets', () => {
    expect(read('a\u0000b\u000c 60 A 192.0.2.1\n').records).toEqual([
      'a\\000b\\012.example. 60 IN A 192.0.2.1',
    ]);
  });

  it('restores the TTL after an included file, as CoreDNS and Knot do', () => {
    const files = { '/zones/inc': '$TTL 5\na A 192.0.2.1\n' };
    expect(read('$TTL 60\n$INCLUDE inc\nb A 192.0.2.2\n', files).records).toEqual([
      'a.example. 5 IN A 192.0.2.1',
      'b.example. 60 IN A 192.0.2.2',
    ]);
  });

  it('makes records from a range', () => {
    const { records, problems } = read(
      `$TTL 60\n$GENERATE 1-3 h$ A 192.0.2.$\n$GENERATE 1-5/2 n\${1,3,d} 30 IN A 192.0.2.$\n` +
        `$GENERATE 10-11 x\${0,2,x}.$$ CNAME h\${-9}.\\$\n$GENERATE 18-18 \${0,4,n}.r PTR h\n`,
    );
    expect(problems).toEqual([]);
    expect(records).toEqual([
      'h1.example. 60 IN A 192.0.2.1',
      'h2.example. 60 IN A 192.0.2.2',
      'h3.example. 60 IN A 192.0.2.3',
      'n002.example. 30 IN A 192.0.2.1',
      'n004.example. 30 IN A 192.0.2.3',
      'n006.example. 30 IN A 192.0.2.5',
      'x0a.\\$.example. 60 IN CNAME h1.\\$.example.',
      'x0b.\\$.example. 60 IN CNAME h2.\\$.example.',
      '2.1.r.example. 60 IN PTR h.example.',
    ]);
  });

  it('gives records from a range a TTL of their own, where they are to have one', () => {
    const text = '$TTL 60\n$GENERATE 1-2 h$ A 192.0.2.$\n$GENERATE 3-3 h$ 30 A 192.0.2.$\na A 192.0.2.9\n';
    const settings = { file: 'db', origin: parseName('example.'), readInclude: () => '', generatedTtl: 3600 };
    expect(readZoneFile(text, settings).records.map(({ ttl }) => ttl)).toEqual([3600, 3600, 30, 60]);
  });

  it('includes files, with an origin of their own, and goes on as before', () => {
    const { records, problems, included } = read(
      '$TTL 60\na A 192.0.2.1\n$INCLUDE inc.db sub\n  A 192.0.2.2\n$INCLUDE /other/inc.db\n',
      {
        '/zones/inc.db': 'b A 192.0.2.3\n$ORIGIN deep\nc A 192.0.2.4\n',
        '/other/inc.db': '\n\nd A nonsense\n',
      },
    );
    expect(records).toEqual([
      'a.example. 60 IN A 192.0.2.1',
      'b.sub.example. 60 IN A 192.0.2.3',
      'c.deep.sub.example. 60 IN A 192.0.2.4',
      'a.example. 60 IN A 192.0.2.2',
    ]);
    expect(problems).toEqual(['/other/inc.db:3: not an IPv4 address: "nonsense"']);
    expect(included).toEqual(['/zones/inc.db', '/other/inc.db']);
  });

  it('ends files that include each other', () => {
    const files = { '/zones/db': '$INCLUDE db\n' };
    expect(read('$INCLUDE db\n', files).problems).toEqual([
      '/zones/db:1: more than 7 files inside each other: "db"',
    ]);
  });

  const faults: readonly (readonly [string, string])[] = [
    ['a IN A', 'the data ends too early: ipv4 is missing'],
    ['a IN A 192.0.2.1 x', 'more words than A has: "x"'],
    ['a IN A 192.0.2.300', 'not an IPv4 address: "192.0.2.300"'],
    ['a IN AAAA 192.0.2.1', 'not an IPv6 address: "192.0.2.1"'],
    ['a IN MX mail', 'not a whole number from 0 to 65535: "mail"'],
    ['a IN MX 65536 mail', 'not a whole number from 0 to 65535: "65536"'],
    ['a IN NS b..c', 'not a domain name: "b..c"'],
    ['a..b IN A 192.0.2.1', 'not a domain name: "a..b"'],
    ['a IN NOSUCH x', 'not a type: "NOSUCH"'],
    ['a IN', 'a record without a type'],
    [' IN A 192.0.2.1', 'a record without a name, and none before it: "IN"'],
    ['a 4294967296 IN A 192.0.2.1', 'not a TTL from 0 to 2147483647: "4294967296"'],
    ['a IN TXT', 'the data ends too early: string is missing'],
    [`a IN HINFO ${'x'.repeat(256)} os`, `a string of more than 255 octets: "${'x'.repeat(256)}"`],
    ['a IN TXT "\\999"', 'an incomplete escape: "\\\\999"'],
    ['a IN TXT "open', 'a string that is not closed: "\\""'],
    ['a IN TXT ( "x"', 'a parenthesis that is not closed: "("'],
    ['a IN TXT )', 'a closing parenthesis without an opening one: ")"'],
    ['a IN TYPE65280 \\# 3 0102', '2 octets of data, and another length before them: "3"'],
    ['a IN TYPE65280 x', 'no form for this type but that of RFC 3597, \\# LENGTH HEX: "x"'],
    ['a IN A \\# 2 0102', 'no data of type A: "\\\\#"'],
    ['a IN DS 1 8 2 abc', 'not pairs of hexadecimal digits: "abc"'],
    ['a IN HTTPS 1 . port=x', 'not a port: "x"'],
    ['a IN HTTPS 1 . nosuch=1', 'not a parameter: "nosuch=1"'],
    ['a IN HTTPS 1 . ech=!!!', 'not base64: "!!!"'],
    ['a IN HTTPS 1 . key65535=x', 'not a parameter: "key65535=x"'],
    ['a IN HTTPS 1 . key0998=x', 'not a parameter: "key0998=x"'],
    ['a IN HTTPS 1 . ohttp=x', 'a parameter that has no value: "x"'],
    ['a IN HTTPS 1 . tls-supported-groups=x', 'not a group: "x"'],
    ['a IN APL 1:192.0.2.0/33', 'not a prefix such as 1:192.0.2.0/24: "1:192.0.2.0/33"'],
    ['a IN NID 1 1:2:3', 'not 64 bits such as 2001:db8:1:2: "1:2:3"'],
    ['$NOSUCH x', 'not one of $ORIGIN, $TTL, $INCLUDE and $GENERATE: "$NOSUCH"'],
    ['$TTL', 'a directive without its value: "$TTL"'],
    ['$ORIGIN a b', 'more than one value: "b"'],
    ['$INCLUDE none', 'a file that cannot be read (no such file): "none"'],
    ['$GENERATE 5-1 a A 192.0.2.$', 'not a range such as 1-10 or 0-255/2: "5-1"'],
    ['$GENERATE 0-65536 a$ A 192.0.2.1', 'a range of more than 65536 numbers: "0-65536"'],
    ['a IN IPSECKEY 10 1 2', 'the data ends too early: gateway is missing'],
    ['a IN IPSECKEY 10 4 2 .', 'a gateway of an unknown kind: "."'],
    ['a IN IPSECKEY 10 0 2 b AQID', 'not the dot that stands for none: "b"'],
    ['a IN IPSECKEY 10 1 2 ::1 AQID', 'not an IPv4 address: "::1"'],
    ['a IN AMTRELAY 10 2 0 .', 'not a whole number from 0 to 1: "2"'],
    ['a IN AMTRELAY 10 0 0 . x', 'more words than AMTRELAY has: "x"'],
    ['a IN HIP 2 abcd', 'the data ends too early: base64 is missing'],
    [`$GENERATE 1-2 a\${0 A 192.0.2.1`, `not a form of a number such as \${0,3,d}: "a\${0"`],
    [`$GENERATE 1-2 a\${x} A 192.0.2.1`, `not a form of a number such as \${0,3,d}: "a\${x}"`],
  ];
  for (const [line, fault] of faults)
    it(`refuses ${JSON.stringify(line.slice(0, 40))} with its line, and reads on`, () => {
      const { records, problems } = read(`$TTL 60\n${line}\nz 60 IN A 192.0.2.9\n`);
      expect(problems).toEqual([`/zones/db:2: ${fault}`]);
      const isUnclosed = line.includes('TXT "open') || line.includes('TXT (') || line.includes('TXT )');
      expect(records).toEqual(isUnclosed ? [] : ['z.example. 60 IN A 192.0.2.9']);
    });

  it('reads records of all kinds', () => {
    for (const { record, line } of [...sampleRecords, ...malformedRecords])
      expect(parseRecord(line), line).toEqual(record);
  });

  const others: readonly (readonly [string, string])[] = [
    ['DS 12345 RSASHA256 2 49FD 46E6', '8 3039080249FD46E6'],
    ['NSEC web A RRSIG', '13 03776562000006400000000002'],
    ['SSHFP 1 1 abcd', '4 0101ABCD'],
    ['TLSA 3 1 1 abcd', '5 030101ABCD'],
    ['SPF "v=spf1"', '7 06763D73706631'],
    ['LOC 1 0 0 N 2 0 0 E 0m 1m 1m 1m', '16 001212128036EE80806DDD0000989680'],
    ['LOC 42 21 54 N 71 06 18 W -24m 30m', '16 0033161389172DD070BE15F000988D20'],
    ['EUI48 00-00-5e-00-53-2a', '6 00005E00532A'],
    ['URI 10 1 "ftp://a"', '11 000A00016674703A2F2F61'],
    ['NSEC3PARAM 1 0 12 aabb', '7 0100000C02AABB'],
    ['RP a b', '6 016100016200'],
    ['TYPE65280 \\# 4 0102 0304', '4 01020304'],
    // RFC 6742, RFC 3123, and types without an RFC.
    ['NID 10 0014:4fff:ff20:ee64', '10 000A00144FFFFF20EE64'],
    ['L32 10 10.1.2.0', '6 000A0A010200'],
    ['LP 10 l64.example.', '15 000A036C3634076578616D706C6500'],
    ['APL 1:192.168.32.0/21 !1:192.168.38.0/28 2:FF00::/8', '19 00011503C0A82000011C83C0A82600020801FF'],
    ['AVC "x"', '2 0178'],
    ['RKEY 0 3 8 AQID', '7 00000308010203'],
    // RFC 4025 section 3.2, RFC 8777 section 4.3.1, RFC 8005 section 6, RFC 9859 section 2.2, RFC 1712.
    ['IPSECKEY ( 10 1 2 192.0.2.38 AQID )', '10 0A0102C0000226010203'],
    ['IPSECKEY 10 0 2 . AQID', '6 0A0002010203'],
    ['IPSECKEY 10 2 0 2001:db8::1', '19 0A020020010DB8000000000000000000000001'],
    ['IPSECKEY 10 3 2 b. AQID', '9 0A0302016200010203'],
    ['AMTRELAY 10 0 1 203.0.113.15', '6 0A01CB00710F'],
    ['AMTRELAY 128 1 3 b.', '5 8083016200'],
    ['HIP 2 2001 AQID r.example.', '20 0202000320010102030172076578616D706C6500'],
    ['DSYNC CDS NOTIFY 5359 b.', '8 003B0114EF016200'],
    ['GPOS -32.6882 116.8652 10.0', '23 082D33322E36383832083131362E383635320431302E30'],
    ['NSAP-PTR b.', '3 016200'],
    ['DLV 1 8 2 ab', '5 00010802AB'],
    ['UID 7', '4 00000007'],
    ['TALINK b.example. .', '12 0162076578616D706C650000'],
  ];
  for (const [text, generic] of others)
    it(`reads ${text}`, () => {
      const record = parseRecord(`x.example. 300 IN ${text}`);
      const bytes = 'data' in record && record.data.kind === 'unknown' ? record.data.bytes : undefined;
      const shown = bytes && `${bytes.length} ${Buffer.from(bytes).toString('hex').toUpperCase()}`;
      expect(shown, JSON.stringify(record)).toBe(generic);
    });
});

const octets = (maxLength: number) => fc.uint8Array({ maxLength });
const uint16 = fc.integer({ min: 0, max: 0xffff });
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const label = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => [...bytes].map((octet) => `\\${String(octet).padStart(3, '0')}`).join(''));
const name: fc.Arbitrary<AbsoluteName> = fc
  .array(label, { maxLength: 5 })
  .map((labels) => (labels.length === 0 ? ROOT : parseName(`${labels.join('.')}.`)));
const data: fc.Arbitrary<RecordData> = fc.oneof(
  fc.ipV4().map((address) => ({ kind: 'A' as const, address })),
  fc.record({
    kind: fc.constantFrom('CNAME' as const, 'DNAME' as const, 'NS' as const, 'PTR' as const),
    target: name,
  }),
  fc.record({
    kind: fc.constant('SOA' as const),
    primary: name,
    mailbox: name,
    serial: uint32,
    refresh: uint32,
    retry: uint32,
    expire: uint32,
    minimum: uint32,
  }),
  fc.record({ kind: fc.constant('MX' as const), preference: uint16, exchange: name }),
  fc.record({
    kind: fc.constant('TXT' as const),
    strings: fc.array(octets(40), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('SRV' as const),
    priority: uint16,
    weight: uint16,
    port: uint16,
    target: name,
  }),
  fc.record({ kind: fc.constant('HINFO' as const), cpu: octets(20), os: octets(20) }),
  fc.record({
    kind: fc.constant('NAPTR' as const),
    order: uint16,
    preference: uint16,
    flags: octets(5),
    services: octets(9),
    regexp: octets(20),
    replacement: name,
  }),
  fc.record({
    kind: fc.constant('CAA' as const),
    flags: fc.integer({ min: 0, max: 255 }),
    tag: fc.constantFrom('issue', 'iodef', 'issuewild'),
    value: octets(300),
  }),
  fc.record({
    kind: fc.constantFrom('HTTPS' as const, 'SVCB' as const),
    priority: uint16,
    target: name,
    parameters: fc
      .uniqueArray(fc.integer({ min: 7, max: 0xfffe }), { maxLength: 4 })
      .chain((keys) =>
        fc.tuple(...keys.toSorted((a, b) => a - b).map((key) => octets(30).map((value) => ({ key, value })))),
      ),
  }),
  fc.record({
    kind: fc.constant('unknown' as const),
    type: fc.integer({ min: 1000, max: 65_279 }),
    bytes: octets(60),
  }),
);
const record: fc.Arbitrary<ResourceRecord> = fc.record({
  name,
  class: fc.constant(CLASS.IN),
  ttl: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  data,
});

describe('a zone file', () => {
  it('has the records that were printed into it', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), (records) => {
        const text = records.map((each) => `${presentRecord(each)}\n`).join('');
        const reading = readZoneFile(text, { file: 'db', origin: ORIGIN, readInclude: () => '' });
        expect(reading.problems).toEqual([]);
        expect(reading.records).toEqual(records);
      }),
      { numRuns: 500 },
    );
  });

  it('has an empty list of groups as octets', () => {
    const data = {
      kind: 'HTTPS' as const,
      priority: 1,
      target: ORIGIN,
      parameters: [{ key: 9, value: new Uint8Array() }],
    };
    const text = `${presentRecord({ name: ORIGIN, class: 1, ttl: 60, data })}\n`;
    const { records, problems } = readZoneFile(text, { file: 'db', origin: ORIGIN, readInclude: () => '' });
    expect([problems, records[0]?.data]).toEqual([[], data]);
  });

  it('never fails to be read, whatever it holds', () => {
    const words = [
      '$GENERATE',
      '$TTL',
      '$INCLUDE',
      '$ORIGIN',
      '1-3',
      'IN',
      'A',
      'TXT',
      'HTTPS',
      'LOC',
      'NSEC',
      '\\#',
      '@',
    ];
    const word = fc.oneof(
      fc.constantFrom(...words, '(', ')', '"', ';', '\\', '$', `\${1,2,x}`, '60', 'a.'),
      fc.string({ maxLength: 5 }),
    );
    const text = fc.array(fc.tuple(word, fc.constantFrom(' ', '\n', '', '\t')), { maxLength: 50 });
    fc.assert(
      fc.property(text, (pieces) => {
        const source = pieces.map(([before, after]) => before + after).join('');
        const { problems } = readZoneFile(source, {
          file: 'db',
          origin: ORIGIN,
          readInclude: () => 'x 1 A 192.0.2.1',
        });
        for (const problem of problems) expect(describeZoneFileProblem(problem)).toMatch(/^\S+:\d+: \w/);
      }),
      { numRuns: 1500 },
    );
  });
});
