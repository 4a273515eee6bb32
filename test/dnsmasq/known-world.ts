/**
 * The questions, options and upstream of both sides.
 */
import type { Question } from './both.ts';

const MANY = Array.from({ length: 60 }, (_, index) => `many A 10.9.0.${index + 1}`).join('\n');

export const ZONES: Readonly<Record<string, string>> = {
  'example.test.': `$ORIGIN example.test.
$TTL 300
@ SOA ns hostmaster 1 3600 600 86400 120
@ NS ns
@ MX 10 mail
ns A 192.0.2.53
www A 192.0.2.80
www AAAA 2001:db8::80
mail A 192.0.2.25
both A 192.0.2.1
both A 192.0.2.2
six AAAA 2001:db8::6
short 3 A 192.0.2.3
text TXT "one" "two words"
alias CNAME www
chain CNAME alias
out CNAME host.other.test.
lost CNAME nobody
ring CNAME gnir
gnir CNAME ring
_sip._tcp SRV 1 2 5060 www
naptr NAPTR 10 20 "s" "SIP+D2U" "" _sip._tcp
caa CAA 0 issue "ca.test"
a.deep.down A 192.0.2.7
*.wild A 192.0.2.9
private A 192.168.7.7
loop A 127.0.0.9
null A 0.0.0.0
forged A 192.0.2.66
old.host A 192.0.2.100
${MANY}
`,
  'other.test.': `$ORIGIN other.test.
$TTL 60
@ SOA ns hostmaster 1 3600 600 86400 30
@ NS ns
ns A 192.0.2.54
host A 198.51.100.1
`,
  '2.0.192.in-addr.arpa.': `$ORIGIN 2.0.192.in-addr.arpa.
$TTL 300
@ SOA ns.example.test. hostmaster.example.test. 1 3600 600 86400 120
@ NS ns.example.test.
80 PTR www.example.test.
`,
  '168.192.in-addr.arpa.': `$ORIGIN 168.192.in-addr.arpa.
$TTL 300
@ SOA ns.example.test. hostmaster.example.test. 1 3600 600 86400 120
@ NS ns.example.test.
7.7 PTR private.example.test.
`,
};

export const QUESTIONS: readonly Question[] = [
  ['www.example.test', 'A'],
  ['WWW.Example.TEST', 'A'],
  ['www.example.test', 'AAAA'],
  ['www.example.test', 'TXT'],
  ['both.example.test', 'A'],
  ['six.example.test', 'A'],
  ['six.example.test', 'AAAA'],
  ['short.example.test', 'A'],
  ['text.example.test', 'TXT'],
  ['alias.example.test', 'A'],
  ['alias.example.test', 'CNAME'],
  ['chain.example.test', 'AAAA'],
  ['out.example.test', 'A'],
  ['lost.example.test', 'A'],
  ['ring.example.test', 'A'],
  ['example.test', 'MX'],
  ['example.test', 'NS'],
  ['example.test', 'SOA'],
  ['_sip._tcp.example.test', 'SRV'],
  ['naptr.example.test', 'NAPTR'],
  ['caa.example.test', 'CAA'],
  ['down.example.test', 'A'],
  ['deep.down.example.test', 'AAAA'],
  ['nobody.example.test', 'A'],
  ['nobody.example.test', 'AAAA'],
  ['x.wild.example.test', 'A'],
  ['x.wild.example.test', 'TXT'],
  ['private.example.test', 'A'],
  ['loop.example.test', 'A'],
  ['null.example.test', 'A'],
  ['forged.example.test', 'A'],
  ['old.host.example.test', 'A'],
  ['many.example.test', 'A'],
  ['host.other.test', 'A'],
  ['nobody.other.test', 'A'],
  ['80.2.0.192.in-addr.arpa', 'PTR'],
  ['81.2.0.192.in-addr.arpa', 'PTR'],
  ['7.7.168.192.in-addr.arpa', 'PTR'],
  ['1.1.10.in-addr.arpa', 'PTR'],
  ['plain', 'A'],
  ['plain', 'TXT'],
  ['nowhere.invalid', 'A'],
  ['_ldap._tcp.example.test', 'SRV'],
  ['.', 'NS'],
];

/** `KNOT` stands for the address of the upstream. */
export const COMMAND_LINES: readonly (readonly string[])[] = [
  ['--server=KNOT'],
  ['--server=KNOT', '--cache-size=0'],
  ['--server=KNOT', '--no-negcache', '--max-ttl=7'],
  ['--server=KNOT', '--max-cache-ttl=9', '--neg-ttl=11'],
  ['--server=KNOT', '--min-cache-ttl=600'],
  ['--server=KNOT', '--filter-AAAA'],
  ['--server=KNOT', '--filter-A'],
  ['--server=KNOT', '--filter-rr=TXT,MX'],
  ['--server=KNOT', '--domain-needed', '--bogus-priv', '--filterwin2k'],
  ['--server=KNOT', '--stop-dns-rebind'],
  ['--server=KNOT', '--stop-dns-rebind', '--rebind-localhost-ok', '--rebind-domain-ok=/example.test/'],
  ['--server=KNOT', '--bogus-nxdomain=192.0.2.66', '--bogus-nxdomain=10.9.0.0/16'],
  ['--server=KNOT', '--alias=192.0.2.0,203.0.113.0,255.255.255.0'],
  ['--server=KNOT', '--local=/example.test/'],
  ['--server=KNOT', '--server=/example.test/', '--server=/www.example.test/KNOT'],
  ['--server=/example.test/KNOT'],
  ['--server=KNOT', '--address=/www.example.test/10.0.0.1', '--address=/blocked.test/#'],
  ['--server=KNOT', '--address=/example.test/', '--local-ttl=5'],
  ['--server=KNOT', '--strict-order', '--no-round-robin'],
  ['--server=KNOT', '--all-servers', '--cache-rr=TXT,MX'],
  ['--server=KNOT', '--host-record=www.example.test,10.2.2.2', '--cname=c.test,www.example.test'],
  ['--server=KNOT', '--txt-record=text.example.test,ours', '--mx-host=example.test,mx.test,5'],
  ['--rev-server=192.0.2.0/24,KNOT', '--server=//KNOT'],
  ['--server=/*.host.example.test/', '--server=/example.test/KNOT', '--server=/other.test/#'],
  [],
];
