import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { readZoneFile } from '@portolan/sources/zone-files/zone-file.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeKeyPair } from '../dnssec/testing/keys.ts';
import { Sign } from './sign.ts';
import { signZone } from './sign-zone.ts';
import { findSigningNeed } from './signing-need.ts';

const ZONE = `$ORIGIN example.
$TTL 60
@ IN SOA ns host 1 7200 3600 1209600 30
@ IN NS ns
@ IN DNSKEY 257 3 15 AAAA
@ IN NSEC ns A
ns IN A 192.0.2.53
*.wild IN A 192.0.2.81
a.b 10 IN TXT "one"
a.b 20 IN TXT "two"
sub IN NS ns.sub
sub IN A 192.0.2.1
ns.sub IN A 192.0.2.99
secure IN NS ns.elsewhere.test.
secure IN DS 1 15 2 00
outside.test. IN A 192.0.2.1
`;
const HOUR = 3600;
const DAY = 24 * HOUR;
const origin = toKey(parseName('example.'));

const readRecords = (text: string) =>
  readZoneFile(text, { file: 'db', origin, readInclude: () => '' }).records;

async function makeSubject({ zone = ZONE, keys = [makeKeyPair('example.', 257)], pick = () => 0.5 } = {}) {
  const folder = await makeTemporaryFolder();
  const clock = new ManualClock();
  const log = new RecordingLog();
  const path = await folder.write('db', zone);
  const signedPath = join(folder.path, 'db.example.signed');
  const options = { zones: [{ origin, path, signedPath, keys }] };
  const start = () => {
    const sign = new Sign(options, { clock, log, pick });
    onTestFinished(() => sign.stop());
    sign.start();
    return sign;
  };
  const lines = () => log.records.map(({ message }) => message);
  const isLogged = (text: string) => lines().some((line) => line.includes(text));
  return { folder, clock, start, lines, signedPath, isLogged };
}

describe('a signed zone', () => {
  const VALIDITY = { inception: 1_000_000, expiration: 2_000_000 };
  const SIGNING = { origin, keys: [makeKeyPair('example.', 257)], validity: VALIDITY, serial: 4711 };

  it('has keys, a chain of NSEC records, and signatures of all that is its own', async () => {
    const signed = await signZone(readRecords(ZONE), SIGNING);
    const lines = signed.map(presentRecord).map((line) => {
      const [name, ttl, , type, ...words] = line.split(' ');
      return type === 'RRSIG'
        ? `${name} ${ttl} RRSIG ${words[0]} ${words[2]} ${words[3]}`
        : [name, ttl, type, ...words].join(' ');
    });
    const key = 'l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=';
    expect(lines.map((line) => line.replace(/ CDS 3613 15 (\d) [0-9A-F]+$/, ' CDS 3613 15 $1'))).toEqual([
      'example. 60 SOA ns.example. host.example. 4711 7200 3600 1209600 30',
      'example. 60 RRSIG SOA 1 60',
      'example. 60 NS ns.example.',
      'example. 60 RRSIG NS 1 60',
      `example. 60 DNSKEY 257 3 15 ${key}`,
      'example. 60 RRSIG DNSKEY 1 60',
      'example. 60 CDS 3613 15 1',
      'example. 60 CDS 3613 15 2',
      'example. 60 RRSIG CDS 1 60',
      `example. 60 CDNSKEY 257 3 15 ${key}`,
      'example. 60 RRSIG CDNSKEY 1 60',
      'example. 30 NSEC a.b.example. NS SOA RRSIG NSEC DNSKEY CDS CDNSKEY',
      'example. 30 RRSIG NSEC 1 30',
      'a.b.example. 10 TXT "one"',
      'a.b.example. 10 TXT "two"',
      'a.b.example. 10 RRSIG TXT 3 10',
      'a.b.example. 30 NSEC ns.example. TXT RRSIG NSEC',
      'a.b.example. 30 RRSIG NSEC 3 30',
      'ns.example. 60 A 192.0.2.53',
      'ns.example. 60 RRSIG A 2 60',
      'ns.example. 30 NSEC secure.example. A RRSIG NSEC',
      'ns.example. 30 RRSIG NSEC 2 30',
      'secure.example. 60 NS ns.elsewhere.test.',
      'secure.example. 60 DS 1 15 2 00',
      'secure.example. 60 RRSIG DS 2 60',
      'secure.example. 30 NSEC sub.example. NS DS RRSIG NSEC',
      'secure.example. 30 RRSIG NSEC 2 30',
      'sub.example. 60 NS ns.sub.example.',
      'sub.example. 60 A 192.0.2.1',
      'sub.example. 30 NSEC *.wild.example. NS RRSIG NSEC',
      'sub.example. 30 RRSIG NSEC 2 30',
      'ns.sub.example. 60 A 192.0.2.99',
      '*.wild.example. 60 A 192.0.2.81',
      '*.wild.example. 60 RRSIG A 2 60',
      '*.wild.example. 30 NSEC example. A RRSIG NSEC',
      '*.wild.example. 30 RRSIG NSEC 2 30',
    ]);
  });

  it('has a signature by each key', async () => {
    const keys = [makeKeyPair('example.', 257, 0), makeKeyPair('example.', 257, 1)];
    const signed = await signZone(readRecords(ZONE), { ...SIGNING, keys });
    const tags = signed.slice(1, 3).map((record) => presentRecord(record).split(' ')[10]);
    expect(tags).toEqual(['3613', '35217']);
  });

  it('needs an SOA record', async () => {
    await expect(signZone(readRecords('example. 1 IN NS a.'), SIGNING)).rejects.toThrow(
      'no SOA record for example.',
    );
  });
});

describe('a zone must be signed again', () => {
  const NOW = 1_800_000_000;
  const time = (seconds: number) =>
    new Date(seconds * 1000)
      .toISOString()
      .replace(/\.\d+Z$/, '')
      .replaceAll(/\D/g, '');
  const need = (inception: number, expiration: number) =>
    findSigningNeed(
      readRecords(`example. 60 IN RRSIG SOA 15 1 60 ${time(expiration)} ${time(inception)} 1 example. AAAA`),
      NOW,
    );

  it.each([
    ['6 days after their inception', NOW - 6 * DAY - 1, NOW + 30 * DAY, 'was more than: 144h0m0s ago'],
    ['7 days before they expire', NOW - DAY, NOW + 7 * DAY - 1, 'is less than: 168h0m0s away'],
    ['if they begin later', NOW + 1, NOW + 30 * DAY, 'date is in the future: -1s'],
  ])('%s', (_, inception, expiration, reason) => expect(need(inception, expiration)).toContain(reason));

  it('not before', () => expect(need(NOW - 6 * DAY, NOW + 7 * DAY)).toBe(undefined));

  it('without a signature of its SOA record', () =>
    expect(findSigningNeed(readRecords(ZONE), NOW)).toBe('it has no signature of an SOA record'));
});

describe('the plugin', () => {
  it('signs what is not signed, and leaves it until it is old', async () => {
    const { clock, start, lines, signedPath, isLogged, folder } = await makeSubject();
    start();
    await waitUntil('the signed file', () => isLogged('Successfully signed'));
    const now = Math.floor(clock.now() / 1000);
    expect(lines()[0]).toBe(
      `plugin/sign: Signing "example." because open ${signedPath}: no such file or directory`,
    );
    expect(lines()[1]).toMatch(
      new RegExp(
        `^plugin/sign: Successfully signed zone "example\\." in ".*db\\.example\\.signed" with key tags "3613" and ${now} SOA serial, elapsed \\d+\\.\\d{6}, next: \\d{4}-`,
      ),
    );
    expect((await readdir(folder.path)).toSorted()).toEqual(['db', 'db.example.signed']);
    const [soa, signature] = readRecords(await readFile(signedPath, 'utf8'));
    expect(soa?.data).toMatchObject({ kind: 'SOA', serial: now });
    const bytes = signature?.data.kind === 'unknown' ? Buffer.from(signature.data.bytes) : Buffer.alloc(20);
    expect(bytes.readUInt32BE(8) - now).toBe(34.5 * DAY);
    expect(now - bytes.readUInt32BE(12)).toBe(12 * HOUR);
    start();
    expect(lines().at(-1)).toBe(
      `plugin/sign: Skipping signing zone "example." in "${signedPath}": signatures are valid`,
    );
    // Inception was 12 hours ago: the check 135 hours later finds 147.
    clock.advance(130 * HOUR * 1000);
    expect(lines()).toHaveLength(3);
    clock.advance(5 * HOUR * 1000);
    await waitUntil('another one', () => lines().length >= 5);
    expect(lines().at(3)).toContain('was more than: 144h0m0s ago');
  });

  it('keeps the former file if the zone has a fault, and tries again', async () => {
    const { clock, start, lines, isLogged, folder } = await makeSubject({ zone: 'example. IN A x\n' });
    start();
    await waitUntil('a warning', () => isLogged('Error signing'));
    expect(lines()[1]).toMatch(
      /^plugin\/sign: Error signing "example\." with key tags "3613" in \d+ms: .*db:1: not an IPv4 address: "x", next: /,
    );
    await folder.write('db', ZONE);
    clock.advance(5 * HOUR * 1000);
    await waitUntil('the signed file', () => isLogged('Successfully signed'));
  });

  it('says why a file cannot be written', async () => {
    const { start, isLogged, folder } = await makeSubject();
    await folder.write('db.example.signed/x', '');
    start();
    await waitUntil('a warning', () => isLogged('failed to move zone file into place'));
  });

  it('writes nothing without a key', async () => {
    const { start, lines, folder } = await makeSubject({ keys: [] });
    await start().stop();
    expect(lines()).toEqual([]);
    expect(await readdir(folder.path)).toEqual(['db']);
  });
});
