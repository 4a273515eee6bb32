/**
 * Local data as in the real dnsmasq: the same options and hosts files, the same questions, the same answers. Differences are
 * listed with their reasons; the test fails if a listed one no longer occurs.
 */
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { describe, expect } from 'vitest';
import { type RunningDnsmasq, runDnsmasq } from '../dnsmasq-options/running-dnsmasq.ts';
import { describeWithTool, itWithTool } from '../support/tools.ts';
import { findDifferences, questionsIn, runBoth, tell } from './both-programs.ts';

const HOSTS = `
10.0.0.1 web web.lan deep.branch.example # the first name gets the PTR
2001:db8::1 six
10.0.0.2 many
10.0.0.3 many
10.0.0.4 many
10.0.0.1 Second
0.0.0.0 ads.example
10.0.0.1 web
10.0.0.5 caf\u00e9.example
fd00::5 both
10.0.0.6 both
`;

const HOSTS_QUESTIONS = questionsIn(`
  web A
  WEB A
  web AAAA
  web TXT
  web MX
  web ANY
  x.web A
  x.web TXT
  web.lan A
  web.lan AAAA
  branch.example A
  deep.branch.example TXT
  many A
  six A
  six AAAA
  second A
  ads.example A
  ads.example AAAA
  x.ads.example A
  xn--caf-dma.example A
  both A
  both AAAA
  both ANY
  1.0.0.10.in-addr.arpa PTR
  1.0.0.10.in-addr.arpa A
  2.0.0.10.in-addr.arpa PTR
  9.0.0.10.in-addr.arpa PTR
  0.0.0.0.in-addr.arpa PTR
  5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa PTR
  nothing A
  nothing.example A
`);

/** A server with names of its own and of no other server, whose answers are not authoritative for us. */
async function runUpstream(): Promise<RunningDnsmasq> {
  const records = [
    'up.example,9.9.9.9,2001:db8::9',
    'private.example,192.168.1.5',
    'loop.example,127.0.0.1',
    'bogus.example,6.6.6.6',
    'bogus6.example,2001:db8:6::1',
    'mapped.example,::ffff:10.0.0.1',
    'ula.example,fd00::1',
    'linklocal.example,fe80::1',
    'fine.okay.example,10.1.1.1',
    'alias.example,1.2.3.4',
    'range.example,4.4.4.15',
    'inside.example,1.2.4.4',
    'single,7.7.7.7',
    'ignored.example,5.5.5.5',
    'x.adr.example,8.8.8.8',
    'own.adr.example,8.8.4.4',
  ];
  return runDnsmasq([
    '--conf-file=/dev/null',
    '--no-hosts',
    '--local=/#/',
    '--local-ttl=50',
    ...records.map((record) => `--host-record=${record}`),
    '--cname=cname.example,private.example',
    '--txt-record=text.web,a text',
    '--ptr-record=5.1.168.192.in-addr.arpa,private.example',
  ]);
}

async function hostsFile(content = HOSTS): Promise<string> {
  return (await makeTemporaryFolder()).write('hosts', content);
}

describeWithTool('dnsmasq', 'hosts files', () => {
  itWithTool('dnsmasq', 'are answered alike without upstream servers', async () => {
    const both = await runBoth([`--addn-hosts=${await hostsFile()}`]);
    expect(await findDifferences(both, HOSTS_QUESTIONS)).toEqual({});
  });

  itWithTool('dnsmasq', 'are answered alike with the domain added', async () => {
    const both = await runBoth([
      `--addn-hosts=${await hostsFile()}`,
      '--expand-hosts',
      '--domain=dom.example',
      '--domain=range.example,10.0.0.4,10.0.0.6',
      '--local=/dom.example/',
      '--local-ttl=7',
      '--selfmx',
      '--host-record=record,10.0.0.1,33',
    ]);
    const questions = questionsIn(`
      web.dom.example A
      web.dom.example AAAA
      web.lan.dom.example A
      many.dom.example A
      many.range.example A
      many A
      both.range.example A
      both.dom.example AAAA
      both.range.example AAAA
      dom.example A
      nothing.dom.example A
      web.dom.example MX
      web MX
      record A
      record.dom.example A
      1.0.0.10.in-addr.arpa PTR
      3.0.0.10.in-addr.arpa PTR
      6.0.0.10.in-addr.arpa PTR
    `);
    expect(await findDifferences(both, questions)).toEqual({});
  });

  itWithTool('dnsmasq', 'keep their order where no option changes it', async () => {
    const one = await hostsFile('10.0.0.4 many\n10.0.0.1 other\n');
    const two = await hostsFile('10.0.0.3 many\n10.0.0.1 many\n10.0.0.2 many\n');
    const both = await runBoth(['--no-round-robin', `--addn-hosts=${one}`, `--addn-hosts=${two}`]);
    for (let turn = 0; turn < 5; turn += 1) {
      const real = await ask(both.real, 'many', 'A');
      const ours = await ask(both.ours, 'many', 'A');
      expect(ours.answers).toEqual(real.answers);
    }
    expect(await findDifferences(both, questionsIn('1.0.0.10.in-addr.arpa PTR'))).toEqual({});
  });

  itWithTool('dnsmasq', 'are told by the network of the client where that is wanted', async () => {
    const file = await hostsFile('127.0.0.5 near\n10.4.4.4 near\nfd00::7 near\n10.4.4.4 far\n10.4.4.5 far\n');
    const both = await runBoth(['--localise-queries', `--addn-hosts=${file}`, '--cname=alias.lan,near']);
    const questions = questionsIn('near A\nnear AAAA\nnear ANY\nfar A\nalias.lan A');
    expect(await findDifferences(both, questions)).toEqual({});
    expect((await tell(both.ours, 'near A')).answers).toEqual(['near. 0 IN A 127.0.0.5']);
  });

  itWithTool('dnsmasq', 'may be folders, where the files of editors are left out', async () => {
    const folder = await makeTemporaryFolder();
    await folder.write('one', '10.0.0.1 one\n');
    await folder.write('.hidden', '10.0.0.2 hidden\n');
    await folder.write('one~', '10.0.0.3 backup\n');
    await folder.write('#one#', '10.0.0.4 unsaved\n');
    const both = await runBoth([`--addn-hosts=${folder.path}`, '--local=/#/']);
    expect(await findDifferences(both, questionsIn('one A\nhidden A\nbackup A\nunsaved A'))).toEqual({});
    expect((await tell(both.ours, 'one A')).answers).toEqual(['one. 0 IN A 10.0.0.1']);
  });
});

const RECORDS = [
  '--local-ttl=11',
  '--host-record=host.loc.example,10.1.1.1,99',
  '--host-record=host.loc.example,fd00::9',
  '--cname=alias.lan,web',
  '--cname=alias2.lan,alias.lan,5',
  '--cname=dangling.lan,nothing.lan',
  '--mx-host=mx.lan,web,10',
  '--mx-host=mx.lan,elsewhere.example,20',
  '--srv-host=_s._tcp.lan,six,80,1,2',
  '--srv-host=_s._tcp.lan,web,81',
  '--txt-record=txt.loc.example,hi,there',
  '--txt-record=web,of a host',
  '--ptr-record=5.0.0.10.in-addr.arpa,ptr5.lan',
  '--ptr-record=1.0.0.10.in-addr.arpa,ptr1.lan',
  '--naptr-record=naptr.lan,10,20,u,E2U+sip,!^.*$!sip:a@b!',
  '--caa-record=caa.lan,0,issue,x',
];

const RECORD_QUESTIONS = questionsIn(`
  host.loc.example A
  host.loc.example AAAA
  host.loc.example TXT
  host.loc.example ANY
  loc.example A
  alias.lan A
  alias.lan AAAA
  alias.lan TXT
  alias.lan SRV
  alias.lan CNAME
  alias.lan ANY
  alias2.lan A
  alias2.lan CNAME
  dangling.lan A
  dangling.lan CNAME
  mx.lan MX
  mx.lan A
  _s._tcp.lan SRV
  _s._tcp.lan A
  _tcp.lan A
  txt.loc.example TXT
  web TXT
  web A
  web ANY
  5.0.0.10.in-addr.arpa PTR
  5.0.0.10.in-addr.arpa TXT
  1.0.0.10.in-addr.arpa PTR
  0.0.10.in-addr.arpa PTR
  naptr.lan NAPTR
  caa.lan CAA
  lan A
`);

describe('records of options', () => {
  itWithTool('dnsmasq', 'are answered alike', async () => {
    const hosts = [`--addn-hosts=${await hostsFile()}`, ...RECORDS];
    expect(await findDifferences(await runBoth(hosts), RECORD_QUESTIONS)).toEqual({});
    const local = [...hosts, '--local=/lan/', '--local=/loc.example/', '--local=/in-addr.arpa/'];
    expect(await findDifferences(await runBoth(local), RECORD_QUESTIONS)).toEqual({});
  });
});

describe('rules for questions', () => {
  const rules = [
    '--address=/adr.example/1.1.1.1',
    '--address=/adr.example/1.1.1.2',
    '--address=/null.example/#',
    '--address=/nx.example/',
    '--local=/loc.example/',
    '--address=/six.example/2001:db8::6',
    '--address=/c.adr.example/1.1.1.3',
    '--local=/c.adr.example/',
    '--address=/*end.example/2.2.2.2',
    '--address=/plainly/3.3.3.3',
    '--address=/two.example/1.1.1.1',
    '--address=/two.example/2001:db8::2',
    '--host-record=in.loc.example,10.1.1.1',
    '--local-ttl=3',
    '--host-record=x.nx.example,10.1.1.2',
  ];
  const questions = questionsIn(`
    adr.example A
    x.adr.example A
    adr.example ANY
    null.example A
    null.example AAAA
    x.null.example ANY
    nx.example A
    y.nx.example TXT
    x.nx.example A
    x.nx.example AAAA
    loc.example A
    in.loc.example A
    in.loc.example TXT
    out.loc.example A
    six.example AAAA
    c.adr.example A
    c.adr.example AAAA
    x.c.adr.example TXT
    end.example A
    bend.example A
    x.end.example A
    y.bend.example A
    bender.example A
    plainly A
    x.plainly A
    two.example A
    two.example AAAA
    two.example ANY
  `);

  itWithTool('dnsmasq', 'are followed alike without servers', async () => {
    const others = questionsIn('adr.example AAAA\nadr.example TXT\nnull.example TXT\nplainly AAAA');
    expect(await findDifferences(await runBoth(rules), [...questions, ...others])).toEqual({});
  });

  itWithTool('dnsmasq', 'are followed alike with servers', async () => {
    const upstream = `127.0.0.1#${(await runUpstream()).port}`;
    const words = [...rules, `--server=${upstream}`, `--server=/own.adr.example/${upstream}`];
    const both = await runBoth([...words, '--server=/default.adr.example/#']);
    const more = questionsIn('single A\nsingle AAAA');
    expect(await findDifferences(both, questions)).toEqual({});
    for (const question of [...more, ...questionsIn('own.adr.example A\ndefault.adr.example A')]) {
      const real = await tell(both.real, question);
      const ours = await tell(both.ours, question);
      expect({ question, ...ours, authoritative: real.authoritative }).toEqual({ question, ...real });
    }
  });

  itWithTool('dnsmasq', 'keep at home what is not for outside', async () => {
    const upstream = `127.0.0.1#${(await runUpstream()).port}`;
    const both = await runBoth([
      '--domain-needed',
      '--bogus-priv',
      '--filterwin2k',
      `--server=${upstream}`,
      '--host-record=known,10.3.3.3',
      `--server=/1.168.192.in-addr.arpa/${upstream}`,
      '--host-record=sub.plain,10.3.3.4',
    ]);
    const kept = questionsIn(`
      single A
      single AAAA
      known A
      known AAAA
      plain A
      plain AAAA
      x.example SRV
      known SRV
      known ANY
      x_y.example ANY
      9.0.0.10.in-addr.arpa PTR
      3.3.3.10.in-addr.arpa PTR
      0.0.10.in-addr.arpa PTR
      10.in-addr.arpa PTR
      in-addr.arpa PTR
      1.2.168.192.in-addr.arpa PTR
      1.16.172.in-addr.arpa PTR
      1.0.0.127.in-addr.arpa PTR
      1.1.254.169.in-addr.arpa PTR
      1.2.0.192.in-addr.arpa PTR
      1.100.51.198.in-addr.arpa PTR
      1.113.0.203.in-addr.arpa PTR
      1.0.0.0.in-addr.arpa PTR
      255.255.255.255.in-addr.arpa PTR
      1.64.64.100.in-addr.arpa PTR
      1.32.172.in-addr.arpa PTR
      x.9.0.0.10.in-addr.arpa PTR
      d.f.ip6.arpa PTR
      8.e.f.ip6.arpa PTR
      c.e.f.ip6.arpa PTR
      c.f.ip6.arpa PTR
      8.b.d.0.1.0.0.2.ip6.arpa PTR
      9.b.d.0.1.0.0.2.ip6.arpa PTR
      x.d.f.ip6.arpa PTR
    `);
    expect(await findDifferences(both, kept)).toEqual({});
    const [real, ours] = [
      await tell(both.real, '5.1.168.192.in-addr.arpa PTR'),
      await tell(both.ours, '5.1.168.192.in-addr.arpa PTR'),
    ];
    expect(ours.answers).toEqual(real.answers);
    expect(ours.answers).toHaveLength(1);
  });
});

describe('rules for replies', () => {
  // That a name does not exist dnsmasq says of all its types once it is known of one: so it is asked last.
  const questions = questionsIn(`
    up.example A
    up.example AAAA
    private.example A
    loop.example A
    bogus.example AAAA
    bogus.example A
    bogus6.example AAAA
    mapped.example AAAA
    ula.example AAAA
    linklocal.example AAAA
    fine.okay.example A
    alias.example A
    range.example A
    inside.example A
    cname.example A
    branch.web A
    nothing.example A
  `);

  async function findChanged(words: readonly string[]): Promise<readonly string[]> {
    const upstream = `--server=127.0.0.1#${(await runUpstream()).port}`;
    const both = await runBoth([upstream, '--host-record=x.branch.web,10.0.0.9', ...words]);
    const changed: string[] = [];
    for (const question of questions) {
      const real = await tell(both.real, question);
      const ours = await tell(both.ours, question);
      // The bit says that a server has the data of its own, which we have not.
      if (JSON.stringify({ ...ours, authoritative: real.authoritative }) !== JSON.stringify(real))
        changed.push(`${question}: ${JSON.stringify(real)} but ${JSON.stringify(ours)}`);
    }
    return changed;
  }

  itWithTool(
    'dnsmasq',
    'are followed alike',
    async () => {
      expect(await findChanged([])).toEqual([]);
      const forged = ['--bogus-nxdomain=6.6.6.0/24', '--bogus-nxdomain=2001:db8:6::/48'];
      const aliases = [
        '--alias=1.2.3.0,5.6.7.0,255.255.255.0',
        '--alias=4.4.4.10-4.4.4.20,4.5.6.0,255.255.255.0',
      ];
      const rebind = ['--stop-dns-rebind', '--rebind-domain-ok=/okay.example/'];
      expect(await findChanged([...forged, ...aliases, ...rebind])).toEqual([]);
      const inward = ['--alias=1.2.4.4,192.168.7.7', '--alias=1.2.3.4,1.1.1.1', '--alias=1.2.3.4,2.2.2.2'];
      expect(await findChanged(['--stop-dns-rebind', '--rebind-localhost-ok', ...inward])).toEqual([]);
    },
    30_000,
  );
});

describe('known differences', () => {
  itWithTool('dnsmasq', 'are these', async () => {
    const upstream = `--server=127.0.0.1#${(await runUpstream()).port}`;
    const both = await runBoth([upstream, '--dns-rr=raw.lan,65280,0102', '--host-record=host.lan,10.0.0.1']);
    const differences = await findDifferences(
      both,
      questionsIn('raw.lan A\nup.example A\nhost.lan AAAA\nhost.lan MAILB\nhost.lan A'),
    );
    expect(differences).toMatchObject({
      // A name with a record exists, whatever the record's type.
      'raw.lan A': { real: { rcode: 3 }, ours: { rcode: 0 } },
      // Answers of others are not authoritative (RFC 1034 section 4.3.1).
      'up.example A': { real: { authoritative: true }, ours: { authoritative: false } },
      'host.lan AAAA': { real: { authoritative: true }, ours: { authoritative: false } },
      // Such records are obsolete since RFC 1035 made MX of them.
      'host.lan MAILB': { real: { rcode: 3 }, ours: { rcode: 4 } },
    });
    expect(Object.keys(differences)).toHaveLength(4);
  });
});
