/**
 * Options have the same meaning as in the real dnsmasq: records, hosts files, and which of several values counts.
 */
import { join } from 'node:path';
import { typeName } from '@portolan/dns/mnemonics.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import { DNSMASQ_HOSTS } from '@portolan/frontends/dnsmasq/settings/hosts-manner.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { readPlan, requireGood } from '@portolan/frontends/dnsmasq/settings/testing/read-plan.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { HostsReader } from '@portolan/sources/hosts/hosts-reader.ts';
import { describe, expect } from 'vitest';
import { itWithTool } from '../support/tools.ts';
import { askDnsmasq } from './real-dnsmasq.ts';
import { runDnsmasq } from './running-dnsmasq.ts';

/** Files on disk, gone with the test, by their paths and contents. */
async function writeFiles(
  files: Readonly<Record<string, string | Buffer>>,
): Promise<(name: string) => string> {
  const folder = await makeTemporaryFolder();
  for (const [name, content] of Object.entries(files)) await folder.write(name, content);
  return (name) => join(folder.path, name);
}

const QUIET = ['--conf-file=/dev/null', '--no-hosts'];

describe('records', () => {
  const lines = String.raw`
    local-ttl=7
    domain=lan.example
    txt-record=Text.Example,one, two,"three, four","q\"\\"
    txt-record=long.example,${'x'.repeat(300)}
    txt-record=empty.example
    txt-record="a b.example",x
    txt-record=slash/back\.example,x
    ptr-record=Ptr.example,Target.Example
    ptr-record=no-target.example
    srv-host=_sip._udp,sip.example,5060,1,2
    srv-host=_sip._udp.example,sip.example
    srv-host=_none._tcp.example
    mx-host=mail.example,a.mail.example,20
    mx-host=mail2.example
    mx-target=common.example
    naptr-record=naptr.example,10,20,u,E2U+sip,!^.*$!sip:a@b!,replace.example
    caa-record=caa.example,128,issue,ca.example; x=y, z
    dns-rr=raw.example,65280,01:2-3 4567 8
    dns-rr=raw.example,65281
    dns-rr=raw.example,65282,ff`;

  itWithTool(['dnsmasq', 'dig'], 'are answered as they were read', async () => {
    const path = await writeFiles({ 'dnsmasq.conf': lines });
    const { local } = readPlan(lines, { hostName: 'unused' });
    const dnsmasq = await runDnsmasq([`--conf-file=${path('dnsmasq.conf')}`, '--no-hosts']);
    // The machine's own MX record bears its name, which only the machine knows.
    const records = local.records.filter(({ name }) => name !== 'unused.');
    expect(records).toHaveLength(17);
    for (const { name, data } of records) {
      const type = typeOfData(data);
      const siblings = records.filter((other) => other.name === name && typeOfData(other.data) === type);
      expect(dnsmasq.ask(name, typeName(type)).toSorted()).toEqual(siblings.map(presentRecord).toSorted());
    }
  });

  itWithTool(['dnsmasq', 'dig'], 'of hosts are answered as they were read', async () => {
    const words = [
      '--host-record=One,two.example,10.0.0.1,10.0.0.2,2001:DB8::1',
      '--host-record=ttl,10.0.0.3,77',
    ];
    const aliases = ['--cname=alias,other,one', '--cname=late,ttl,5'];
    const all = [...QUIET, '--local-ttl=7', ...words, ...aliases];
    const { local } = requireGood(
      readDnsmasqOptions(all, memorySources({ files: { '/dev/null': '' } })),
    ).plan;
    const dnsmasq = await runDnsmasq(all);
    for (const { names, ipv4, ipv6, ttl } of local.hostRecords)
      for (const name of names) {
        expect(dnsmasq.ask(name, 'A')).toEqual([`${name} ${ttl} IN A ${ipv4}`]);
        expect(dnsmasq.ask(name, 'AAAA')).toEqual(
          ipv6 === undefined ? [] : [`${name} ${ttl} IN AAAA ${ipv6}`],
        );
      }
    for (const { alias, target, ttl } of local.cnames)
      expect(dnsmasq.ask(alias, 'A')[0]).toBe(`${alias} ${ttl} IN CNAME ${target}`);
    expect(dnsmasq.ask('1.0.0.10.in-addr.arpa', 'PTR')).toEqual([]);
    expect(dnsmasq.ask('2.0.0.10.in-addr.arpa', 'PTR')).toEqual(['2.0.0.10.in-addr.arpa. 7 IN PTR one.']);
  });
});

describe('hosts files', () => {
  const odd = Buffer.from(
    [
      '# a comment\n\n10.0.0.1 one Two.example # three\n10.0.0.2 a#b c\n   10.0.0.3\tx\ty\r\n10.0.0.4\nnonsense a b\n',
      '10.0.0.300 a\n::1 six\n2001:db8::g a\n10.0.0.5 -A aa ab..c ünder.example 10.0.0.6\n10.0.0.7 ok\n',
    ].join(''),
  );

  itWithTool('dnsmasq', 'are read alike, odd lines and all', async () => {
    const path = await writeFiles({ hosts: odd });
    const { log } = await runDnsmasq([...QUIET, `--addn-hosts=${path('hosts')}`]);
    const names: string[] = [];
    const warnings: string[] = [];
    const reader = new HostsReader(DNSMASQ_HOSTS, {
      host: (_address, name) => names.push(keyOfWire(name)),
      warning({ kind, line, value }) {
        if (kind === 'unaskable') names.push(value);
        else warnings.push(`bad ${kind} at ${path('hosts')} line ${line}`);
      },
      line: (_line, read) => read(),
    });
    reader.push(odd);
    reader.end();
    expect(log.filter((line) => line.startsWith('bad '))).toEqual(warnings);
    expect(log).toContain(`read ${path('hosts')} - ${names.length} names`);
  });

  itWithTool(['dnsmasq', 'dig'], 'are read from the last given to the first', async () => {
    const path = await writeFiles({ one: '10.0.0.1 one\n', two: '10.0.0.1 two\n', conf: '' });
    const words = ['--conf-file=/dev/null', `--addn-hosts=${path('one')}`, `--addn-hosts=${path('two')}`];
    const { plan } = requireGood(readDnsmasqOptions(words, memorySources({ files: { '/dev/null': '' } })));
    expect(plan.local.hostsFiles).toEqual(['/etc/hosts', path('two'), path('one')]);
    const dnsmasq = await runDnsmasq([...words, '--no-hosts']);
    expect(dnsmasq.ask('1.0.0.10.in-addr.arpa', 'PTR')).toEqual(['1.0.0.10.in-addr.arpa. 0 IN PTR two.']);
  });
});

describe('of several values', () => {
  itWithTool('dnsmasq', 'the one in a file counts', async () => {
    const path = await writeFiles({ first: 'cache-size=11', second: 'cache-size=12' });
    const cases = [
      ['--cache-size=10', `--conf-file=${path('first')}`],
      ['--conf-file=/dev/null', `--conf-file=${path('second')}`, '--cache-size=10'],
    ];
    const files = { [path('first')]: 'cache-size=11', [path('second')]: 'cache-size=12', '/dev/null': '' };
    for (const words of cases) {
      const { plan } = requireGood(readDnsmasqOptions(words, memorySources({ files })));
      const { log } = await runDnsmasq([...words, '--no-hosts']);
      expect(log[0]).toMatch(new RegExp(`^started, version .* cachesize ${plan.cache.size}$`));
    }
  });

  itWithTool('dnsmasq', 'the first file is read last', async () => {
    const files = { first: 'bad-in-first', second: 'bad-in-second' };
    const path = await writeFiles(files);
    const words = ['--test', `--conf-file=${path('first')}`, `--conf-file=${path('second')}`];
    expect(askDnsmasq(words).said).toContain(path('second'));
    const contents = { [path('first')]: files.first, [path('second')]: files.second };
    const reading = readDnsmasqOptions(words, memorySources({ files: contents }));
    const places = reading.kind === 'bad' ? reading.problems.map(({ where }) => where) : [];
    expect(places).toEqual([`${path('second')}:1`, `${path('first')}:1`]);
  });
});
