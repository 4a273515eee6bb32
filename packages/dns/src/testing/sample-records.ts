/**
 * A record of every kind with the line that `dig` shows for it.
 */
import { parseName } from '../name.ts';
import { CLASS, type RecordData, type ResourceRecord } from '../types.ts';

const text = (string: string) => Uint8Array.from(Buffer.from(string, 'latin1'));
const hex = (digits: string) => Uint8Array.from(Buffer.from(digits, 'hex'));
const owner = parseName('x.example.');
const target = parseName('Target.example.');

function sample(data: RecordData, shown: string): { record: ResourceRecord; line: string } {
  return { record: { name: owner, class: CLASS.IN, ttl: 300, data }, line: `x.example. 300 IN ${shown}` };
}

const soaNumbers = { serial: 4_294_967_295, refresh: 7200, retry: 1800, expire: 86_400, minimum: 30 };

const alpn = { key: 1, value: text('\x02h2\x02h3') };
const port = { key: 3, value: hex('20fb') };
const ipv4hint = { key: 4, value: hex('0a0000010a000002') };
const ech = { key: 5, value: hex('0001020304') };
const ipv6hint = { key: 6, value: hex('20010db8000000000000000000000001') };

export const sampleRecords = [
  sample({ kind: 'A', address: '10.1.2.3' }, 'A 10.1.2.3'),
  sample({ kind: 'AAAA', address: '2001:db8::1:0:0:1' }, 'AAAA 2001:db8::1:0:0:1'),
  sample({ kind: 'CNAME', target }, 'CNAME Target.example.'),
  sample({ kind: 'DNAME', target }, 'DNAME Target.example.'),
  sample({ kind: 'NS', target }, 'NS Target.example.'),
  sample({ kind: 'PTR', target }, 'PTR Target.example.'),
  sample(
    { kind: 'SOA', primary: target, mailbox: parseName('host\\.master.example.'), ...soaNumbers },
    'SOA Target.example. host\\.master.example. 4294967295 7200 1800 86400 30',
  ),
  sample({ kind: 'MX', preference: 10, exchange: target }, 'MX 10 Target.example.'),
  sample(
    { kind: 'TXT', strings: [text('a "b" \\c; d'), text(''), text('\x00\xff\x7f~')] },
    'TXT "a \\"b\\" \\\\c; d" "" "\\000\\255\\127~"',
  ),
  sample({ kind: 'SRV', priority: 1, weight: 20, port: 65_535, target }, 'SRV 1 20 65535 Target.example.'),
  sample({ kind: 'HINFO', cpu: text('RFC8482'), os: text('') }, 'HINFO "RFC8482" ""'),
  sample(
    {
      kind: 'NAPTR',
      order: 100,
      preference: 50,
      flags: text('u'),
      services: text('E2U+sip'),
      regexp: text('!^.*$!sip:info@example.com!'),
      replacement: parseName('.'),
    },
    'NAPTR 100 50 "u" "E2U+sip" "!^.*$!sip:info@example.com!" .',
  ),
  sample(
    { kind: 'CAA', flags: 128, tag: 'issue', value: text('ca.example; a=b') },
    'CAA 128 issue "ca.example; a=b"',
  ),
  sample(
    { kind: 'HTTPS', priority: 1, target: parseName('.'), parameters: [alpn, port, ipv4hint, ech, ipv6hint] },
    'HTTPS 1 . alpn="h2,h3" port=8443 ipv4hint=10.0.0.1,10.0.0.2 ech=AAECAwQ= ipv6hint=2001:db8::1',
  ),
  sample(
    {
      kind: 'SVCB',
      priority: 16,
      target,
      parameters: [
        { key: 0, value: hex('00010003') },
        alpn,
        { key: 2, value: hex('') },
        port,
        { key: 667, value: text('hi "x"') },
      ],
    },
    'SVCB 16 Target.example. mandatory=alpn,port alpn="h2,h3" no-default-alpn port=8443 key667="hi \\"x\\""',
  ),
  sample({ kind: 'SVCB', priority: 0, target, parameters: [] }, 'SVCB 0 Target.example.'),
  sample({ kind: 'unknown', type: 65_280, bytes: hex('0a00abcdef') }, 'TYPE65280 \\# 5 0A00ABCDEF'),
  sample({ kind: 'unknown', type: 65_281, bytes: hex('') }, 'TYPE65281 \\# 0'),
  sample(
    { kind: 'unknown', type: 43, bytes: hex('ec4505012bb183af5f22588179a53b0a98631fad1a292118') },
    'DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118',
  ),
  sample({ kind: 'unknown', type: 59, bytes: hex('0000000000') }, 'CDS 0 0 0 00'),
  sample({ kind: 'unknown', type: 48, bytes: hex('0101030f0a0b0c') }, 'DNSKEY 257 3 15 CgsM'),
  sample({ kind: 'unknown', type: 60, bytes: hex('0101030f0a0b0c') }, 'CDNSKEY 257 3 15 CgsM'),
  sample(
    { kind: 'unknown', type: 47, bytes: hex('0141000006400100000003010140') },
    'NSEC A. A MX RRSIG NSEC CAA',
  ),
  sample(
    { kind: 'unknown', type: 46, bytes: hex('00010f0300000e1055d4fc6055b94ce00e1d0141000a0b0c') },
    'RRSIG A 15 3 3600 20150819220000 20150729220000 3613 A. CgsM',
  ),
] as const;

/** Without a digest, a key, a signature, or with a malformed bitmap there is no form of their own. */
export const malformedRecords = [
  sample({ kind: 'unknown', type: 43, bytes: hex('ec450501') }, 'DS \\# 4 EC450501'),
  sample({ kind: 'unknown', type: 48, bytes: hex('0101030f') }, 'DNSKEY \\# 4 0101030F'),
  sample({ kind: 'unknown', type: 47, bytes: hex('000000') }, 'NSEC \\# 3 000000'),
  sample({ kind: 'unknown', type: 46, bytes: hex('00010f03') }, 'RRSIG \\# 4 00010F03'),
] as const;
