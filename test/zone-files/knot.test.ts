/**
 * Compares zone files with Knot DNS: we read the same records from a file as it serves.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { typeName } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import type { ResourceRecord } from '@portolan/dns/types.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { parseRecord, readZoneFile } from '@portolan/sources/zone-files/zone-file.ts';
import { expect, onTestFinished } from 'vitest';
import { runKnot } from '../dnsmasq/knot.ts';
import { itWithTool } from '../support/tools.ts';

const ZONE = String.raw`
$TTL 1h30m
@ IN SOA ns1 host.example. ( 2026010101 ; serial
      2h 30m 2w
      60 )
  IN NS ns1
  IN NS ns2.example.net.
@ 100 IN CAA 0 issue "ca.example; a=b"
ns1 A 192.0.2.53
    AAAA 2001:db8::53
mail 300 MX 10 ns1
mail IN 300 MX 20 .
txt TXT "a;b" "c\"d" unquoted "\000\255\127" ""
_http._tcp SRV 0 5 80 ns1
dn DNAME target.example.net.
hinfo HINFO "cpu" os
naptr NAPTR 1 2 "u" "sip" "!a!b\\\\1!" .
ptr PTR ns1
ds DS 12345 8 2 49FD46E6C4B45C55D4AC69CBD3CD34AC 1AFE51DE000000000000000000000000
tlsa TLSA 3 1 1 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE000000000000000000000000
sshfp SSHFP 1 1 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE
loc LOC 42 21 54.5 N 71 06 18 W -24m 30m
loc2 LOC 1 0 0 S 2 0 0 E 0m 1m 200m 3000m
spf SPF "v=spf1"
rp RP host txt
afsdb AFSDB 1 ns1
kx KX 1 ns1
rt RT 1 ns1
minfo MINFO ns1 host
cert CERT PKIX 0 8 AQIDBA==
dhcid DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=
pgp OPENPGPKEY AQID
eui EUI48 00-00-5e-00-53-2a
eui8 EUI64 00-00-5e-ef-10-00-00-2a
uri URI 10 1 "ftp://ftp.example/public"
typ TYPE65280 \# 4 0102 0304
generic A \# 4 c0000201
https HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.80,192.0.2.81 port=8443 ech=AAECAwQ= ipv6hint=2001:db8::1
svcb SVCB 16 ns1 mandatory=alpn,key667 alpn="f\\\\oo\\,bar,h2" key667="hello\210qoo"
weird\.dot A 192.0.2.94
\101bc A 192.0.2.95
*.wild A 192.0.2.81
$ORIGIN deep.example.
x A 192.0.2.96
$ORIGIN example.
$TTL 900
y A 192.0.2.97
`;

/** What dig shows of the answers to all questions, in one run. */
async function digAll(port: number, questions: readonly string[]): Promise<readonly string[]> {
  const folder = await makeTemporaryFolder();
  const file = await folder.write('questions', questions.map((question) => `${question}\n`).join(''));
  const flags = ['+noall', '+answer', '+norecurse', '+tcp'];
  const { stdout } = await promisify(execFile)('dig', [
    '@127.0.0.1',
    '-p',
    String(port),
    ...flags,
    '-f',
    file,
  ]);
  return stdout.split('\n').filter((line) => line !== '' && !line.startsWith(';'));
}

function show(record: ResourceRecord): string {
  // Knot and dig may change the capitals of names.
  return presentRecord(record).toLowerCase();
}

itWithTool(['knotd', 'dig'], 'are served as they are read', async () => {
  const origin = parseName('example.');
  const { records, problems } = readZoneFile(ZONE, { file: 'db', origin, readInclude: () => '' });
  expect(problems).toEqual([]);
  expect(records).toHaveLength(40);
  const { port } = await runKnot({ 'example.': ZONE }, onTestFinished);
  const questions = records.map(({ name, data }) => `${name} ${typeName(typeOfData(data))}`);
  const lines = await digAll(port, [...new Set(questions)]);
  const served = lines.map((line) => parseRecord(line)).map((read) => ('data' in read ? show(read) : read));
  expect(served.toSorted()).toEqual(records.map(show).toSorted());
});
