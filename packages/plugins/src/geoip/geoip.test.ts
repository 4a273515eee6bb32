import { parseAddress } from '@portolan/dns/address.ts';
import type { EdnsOption } from '@portolan/dns/types.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientFacts } from './client-facts.ts';
import { GeoDatabase } from './database.ts';
import { type GeoValue, writeDatabase } from './testing/write-database.ts';

const octets = (address: string): Uint8Array => parseAddress(address) ?? new Uint8Array();
const network = (address: string, prefix: number, record: GeoValue) => ({
  address: octets(address),
  prefix,
  record,
});

const CAMBRIDGE: GeoValue = {
  city: { geoname_id: 2_653_941n, names: { en: 'Cambridge', es: 'Cambridge' } },
  continent: { code: 'EU', names: { en: 'Europe', es: 'Europa' } },
  country: { iso_code: 'GB', names: { en: 'United Kingdom' }, is_in_european_union: true },
  location: { latitude: 52.2242, longitude: -0.000_000_15, time_zone: 'Europe/London' },
  postal: { code: 'CB4' },
  subdivisions: [{ iso_code: 'ENG' }, { names: { en: 'Cambridgeshire' } }, { iso_code: 'CAM' }],
};
const NETWORKS = [
  network('192.0.2.0', 24, CAMBRIDGE),
  network('198.51.100.0', 24, { location: { latitude: 10.5 } }),
  network('203.0.113.0', 24, { city: 'a text in place of fields' }),
  network('2001:db8::', 32, { city: { names: { en: 'Exampleshire' } } }),
];
const CITY = new GeoDatabase(writeDatabase('DBIP-City-Lite', NETWORKS));
const ASN = new GeoDatabase(
  writeDatabase('GeoLite2-ASN', [
    network('192.0.2.0', 24, {
      autonomous_system_number: 396_982,
      autonomous_system_organization: 'EXAMPLE',
    }),
    network('198.51.100.0', 24, { autonomous_system_number: 12_345n }),
  ]),
);

const LABELS = [
  'city/name',
  'country/name',
  'continent/name',
  'country/code',
  'subdivisions/code',
  'country/is_in_european_union',
  'continent/code',
  'latitude',
  'longitude',
  'timezone',
  'postalcode',
  'asn/number',
  'asn/org',
] as const;

function makeFacts(database: GeoDatabase, usesSubnet = false, log = new RecordingLog()): ClientFacts {
  return new ClientFacts({ database, usesSubnet, log });
}

function queryFrom(address: string, options: readonly EdnsOption[] = []): Query {
  const { question, header } = makeQuery('www.example.');
  const edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options };
  return new Query(question, { header, question, edns }, { address, port: 1, transport: 'udp' });
}

function describeClient(facts: ClientFacts, query: Query) {
  return Object.fromEntries(LABELS.map((label) => [label, facts.fact(query, `geoip/${label}`)]));
}

const UNKNOWN_PLACE = {
  ...Object.fromEntries(LABELS.map((label) => [label, ''])),
  'country/is_in_european_union': 'false',
  'asn/number': undefined,
  'asn/org': undefined,
};
const NOTHING = Object.fromEntries(LABELS.map((label) => [label, undefined]));

describe('the facts about a client', () => {
  const facts = makeFacts(CITY);

  it('are those of its network', () => {
    expect(describeClient(facts, queryFrom('192.0.2.77'))).toEqual({
      'city/name': 'Cambridge',
      'country/name': 'United Kingdom',
      'continent/name': 'Europe',
      'country/code': 'GB',
      'subdivisions/code': 'ENG,,CAM',
      'country/is_in_european_union': 'true',
      'continent/code': 'EU',
      latitude: '52.2242',
      longitude: '-0.00000015',
      timezone: 'Europe/London',
      postalcode: 'CB4',
      'asn/number': undefined,
      'asn/org': undefined,
    });
  });

  it.each([
    ['192.0.3.1', {}],
    ['198.51.100.1', { latitude: '10.5' }],
    ['2001:db8::1', { 'city/name': 'Exampleshire' }],
    ['2001:db9::1', {}],
    ['::ffff:198.51.100.1', { latitude: '10.5' }],
    ['fe80::1%eth0', {}],
  ])('are empty where the database has none: %s', (address, known) => {
    expect(describeClient(facts, queryFrom(address))).toEqual({ ...UNKNOWN_PLACE, ...known });
  });

  it.each([
    ['192.0.2.1', '396982', 'EXAMPLE'],
    ['198.51.100.1', '12345', ''],
    ['203.0.113.1', '0', ''],
  ])('are those of its autonomous system: %s', (address, number, organization) => {
    expect(describeClient(makeFacts(ASN), queryFrom(address))).toEqual({
      ...NOTHING,
      'asn/number': number,
      'asn/org': organization,
    });
  });

  it('are missing where the record is not of its schema, and a line of the log says so', () => {
    const log = new RecordingLog();
    expect(describeClient(makeFacts(CITY, false, log), queryFrom('203.0.113.1'))).toEqual(NOTHING);
    expect(log.text).toContain('Setting up city metadata failed');
  });

  it('are missing for IPv6 in a database of IPv4', () => {
    const ipv4 = makeFacts(
      new GeoDatabase(writeDatabase('GeoLite2-City', NETWORKS.slice(0, 1), { ipVersion: 4 })),
    );
    expect(describeClient(ipv4, queryFrom('2001:db8::1'))).toEqual(NOTHING);
    expect(describeClient(ipv4, queryFrom('192.0.2.1'))['city/name']).toBe('Cambridge');
  });

  it('make an answer depend on the client, only if they are asked for', () => {
    const query = queryFrom('192.0.2.1');
    expect(facts.fact(query, 'kubernetes/client-namespace')).toBeUndefined();
    expect(query.clientWasRead).toBe(false);
    facts.fact(query, 'geoip/city/name');
    expect(query.clientWasRead).toBe(true);
  });

  it('stay right for more clients than are kept', () => {
    const many = makeFacts(CITY);
    for (let number = 0; number < 3000; number++) {
      const address = `192.0.${number % 4}.${number % 251}`;
      expect(many.fact(queryFrom(address), 'geoip/country/code')).toBe(number % 4 === 2 ? 'GB' : '');
    }
  });
});

describe('the client subnet of a query', () => {
  const facts = makeFacts(CITY, true);
  const SUBNET = 8;
  const readCity = (data: string) =>
    facts.fact(
      queryFrom('198.51.100.1', [{ code: SUBNET, data: Buffer.from(data, 'hex') }]),
      'geoip/city/name',
    );

  it.each([
    ['00011800c00002', 'Cambridge'],
    ['0001200000000000', ''],
    ['0002200020010db8', 'Exampleshire'],
    // No address at all: 0.0.0.0, as in CoreDNS.
    ['00010000', ''],
    ['00000000', ''],
  ])('goes before the sender: %s', (data, city) => expect(readCity(data)).toBe(city));

  it('counts only with edns-subnet', () => {
    const data = Buffer.from('00011800c00002', 'hex');
    const query = queryFrom('198.51.100.1', [{ code: SUBNET, data }]);
    expect(makeFacts(CITY).fact(query, 'geoip/city/name')).toBe('');
  });

  it('may be anything', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 24 }), (data) => {
        const query = queryFrom('192.0.2.1', [{ code: SUBNET, data }]);
        expect(facts.fact(query, 'geoip/city/name')).toMatch(/^(?:Cambridge|Exampleshire)?$/);
      }),
    );
  });
});

describe('a database', () => {
  it.each([
    [
      'UnknownDbType',
      'failed to open database file: geoip2: reader does not support the "UnknownDbType" database type',
    ],
    ['GeoIP2-Domain', 'database does not provide any supported schema (city, asn)'],
  ])('of another type is refused: %s', (type, message) => {
    expect(() => new GeoDatabase(writeDatabase(type, NETWORKS))).toThrow(message);
  });

  it.each([
    [Buffer.alloc(0), 'failed to open database file: file is empty'],
    [
      Buffer.from('no database'),
      'failed to open database file: error opening database: invalid MaxMind DB file',
    ],
  ])('is refused if a file is no database: %#', (contents, message) => {
    expect(() => new GeoDatabase(contents)).toThrow(message);
  });

  it('has another version if it is another one', () => {
    const { version } = new GeoDatabase(
      writeDatabase('DBIP-City-Lite', NETWORKS, { buildEpoch: 1_800_000_000 }),
    );
    expect(version).not.toBe(CITY.version);
  });

  it('that is damaged is refused, or has no facts for some clients', () => {
    const whole = writeDatabase('GeoLite2-City', NETWORKS);
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 8 }),
        fc.nat(whole.length),
        (changes, length) => {
          const damaged = Buffer.from(whole);
          for (const [place, value] of changes) damaged[place] = value;
          for (const part of [damaged, whole.subarray(0, length)]) {
            let database: GeoDatabase;
            try {
              database = new GeoDatabase(part);
            } catch (error) {
              expect(String(error)).toMatch(
                /failed to open database file|does not provide any supported schema/,
              );
              continue;
            }
            const facts = makeFacts(database);
            for (const address of ['192.0.2.1', '2001:db8::1', '203.0.113.1'])
              describeClient(facts, queryFrom(address));
          }
        },
      ),
    );
  });
});
