/**
 * Readers give the answers that the plugins of a server block without `cache` derive from the Corefile and the cluster, until
 * either changes.
 */
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { makePacket, ReaderSubject, SERVER, toComparableMessage } from './reader-subject.ts';

const MADE = 'template IN A made.test {\n answer "{{ .Name }} 50 IN A 198.51.100.1"\n }';
const WEB = 'web.default.svc.cluster.local';

async function startSubject(corefile: string, clock?: ManualClock): Promise<ReaderSubject> {
  const subject = new ReaderSubject(corefile, clock);
  await subject.engine.start();
  return subject;
}

const NAT64 = ['dns64', 'template IN AAAA made.test {\n rcode NOERROR\n }', MADE] as const;
const CLIENTS = ['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.2'].map((address) => ({
  address,
  port: 53_000,
}));

/** Whether readers give what the chain gives, once it was asked. */
async function isDerived(subject: ReaderSubject, name: string, type = 'A'): Promise<boolean> {
  const packet = makePacket(name, type);
  const expected = await subject.askChain(packet);
  const given = subject.askTable(packet);
  if (given !== undefined)
    expect(toComparableMessage(given)).toEqual(expected && toComparableMessage(expected));
  return given !== undefined;
}

describe('a server block without cache', () => {
  it.each([
    ['templates', MADE, 'a.made.test'],
    ['templates without records', 'template IN A {\n rcode NXDOMAIN\n }', 'a.test'],
    ['aliases of templates', `${MADE}\n rewrite name exact old.test new.made.test`, 'old.test'],
    ['names of the host', 'local', 'localhost'],
    [
      'lines of hosts',
      'hosts {\n 192.0.2.1 own.test\n fallthrough\n }\n rewrite name a.test own.test',
      'a.test',
    ],
  ])('has readers answer %s', async (_, lines, name) => {
    const clock = new ManualClock();
    const subject = await startSubject(`.:53 {\n ${lines}\n whoami\n}\n`, clock);
    expect(subject.askTable(makePacket(name, 'A'))).toBeUndefined();
    expect(await isDerived(subject, name)).toBe(true);
    clock.advance(61_000);
    expect(subject.askTable(makePacket(name, 'A'))).toBeUndefined();
  });

  it.each([
    [
      'name the client',
      'template IN A made.test {\n answer "{{ .Name }} 50 IN TXT {{ .Remote }}"\n }',
      'a.made.test',
    ],
    ['fail', 'template IN A made.test {\n answer "{{ .Name }} 50 IN A x"\n }', 'a.made.test'],
    ['depend on the client', `acl {\n allow net 192.0.2.0/24\n }\n ${MADE}`, 'a.made.test'],
    [
      'are of another block',
      'rewrite cname exact x.made.test y.other.test\n template IN A made.test {\n answer "{{ .Name }} 9 IN CNAME x.made.test."\n }',
      'a.made.test',
    ],
  ])('leaves answers to the chain that %s', async (_, lines, name) => {
    const other = 'other.test:53 {\n hosts {\n 192.0.2.1 y.other.test\n }\n}\n';
    const subject = await startSubject(`.:53 {\n ${lines}\n}\n${other}`);
    expect(await isDerived(subject, name)).toBe(false);
  });

  it('has readers answer rewritten names of the cluster until it changes', async () => {
    const api = await ApiServerDouble.start({
      objects: [namespace('default'), service('web', '10.96.0.10'), slice('web-1', 'web', '10.244.0.7')],
    });
    onTestFinished(() => api.stop());
    const cluster = `kubernetes cluster.local {\n endpoint ${api.url}\n }`;
    const subject = await startSubject(
      `.:53 {\n rewrite name suffix .corp .svc.cluster.local answer auto\n loadbalance\n ${cluster}\n}\n`,
    );
    const packet = makePacket('web.default.corp', 'A');
    expect(await isDerived(subject, 'web.default.corp')).toBe(true);
    expect(await isDerived(subject, 'missing.default.corp', 'AAAA')).toBe(true);
    api.put(service('web', '10.96.0.11'));
    const isNew = () =>
      JSON.stringify(subject.askTable(makePacket(WEB, 'A')))?.includes('10.96.0.11') === true;
    await waitUntil('the new address', isNew);
    expect(subject.askTable(packet)).toBeUndefined();
    expect(await isDerived(subject, 'web.default.corp')).toBe(true);
    expect(JSON.stringify(subject.askTable(packet))).toContain('10.96.0.11');
  });

  it('has readers answer names of a zone file until it changes', async () => {
    const folder = await makeTemporaryFolder();
    const zone = (serial: number, address: string) =>
      [
        `@ 3600 IN SOA ns host ${serial} 7200 3600 1209600 60`,
        `@ 300 IN NS ns`,
        `ns 300 IN A ${address}`,
        'ns 300 IN AAAA 2001:db8::53',
        'www 300 IN CNAME web',
        'web 120 IN A 192.0.2.80',
        'web 120 IN A 192.0.2.81',
        '*.wild 60 IN TXT "wild"',
        'a.deep.below 60 IN MX 10 web',
        'sub 300 IN NS ns.sub',
        'ns.sub 300 IN A 192.0.2.99',
        'renamed 300 IN DNAME wild',
        'away 300 IN CNAME a.made.test.',
        '',
      ].join('\n');
    const file = await folder.write('db.test', zone(1, '192.0.2.53'));
    const clock = new ManualClock();
    const subject = await startSubject(
      `.:53 {\n loadbalance\n ${MADE}\n file ${file} own.test {\n reload 5s\n }\n}\n`,
      clock,
    );
    const names = [
      '',
      'ns.',
      'www.',
      'web.',
      'x.wild.',
      'a.b.wild.',
      'a.deep.below.',
      'below.',
      'sub.',
      'x.sub.',
    ];
    for (const name of [...names, 'missing.', 'x.renamed.', 'away.'])
      for (const type of ['A', 'AAAA', 'NS', 'MX', 'TXT', 'SOA'])
        expect(await isDerived(subject, `${name}own.test`, type), `${name} ${type}`).toBe(true);
    await folder.write('db.test', zone(2, '192.0.2.54'));
    clock.advance(5000);
    expect(subject.askTable(makePacket('ns.own.test', 'A'))).toBeUndefined();
    expect(await isDerived(subject, 'ns.own.test')).toBe(true);
    expect(JSON.stringify(subject.askTable(makePacket('ns.own.test', 'A')))).toContain('192.0.2.54');
  });

  it('gives the names of a zone file in lower case, as CoreDNS does, whatever the client asks', async () => {
    const folder = await makeTemporaryFolder();
    const lines = [
      '@ 60 IN SOA ns host 1 7200 3600 600 60',
      '@ 60 IN NS ns',
      'www 60 IN CNAME Web',
      'Web 60 IN A 192.0.2.8',
    ];
    const file = await folder.write('db.test', `${lines.join('\n')}\n`);
    const subject = await startSubject(`.:53 {\n file ${file} own.test\n}\n`);
    await subject.askChain(makePacket('www.own.test', 'A'));
    const answer = subject.askTable(makePacket('WWW.OWN.TEST', 'A'));
    expect(
      answer?.answers.map(({ name, data }) => [name, 'target' in data ? data.target : undefined]),
    ).toEqual([
      ['www.own.test.', 'web.own.test.'],
      ['web.own.test.', undefined],
    ]);
    expect(answer?.authorities.map(({ name }) => name)).toEqual(['own.test.']);
  });

  it.each([
    ['without cache', NAT64],
    ['with cache', ['cache 30', ...NAT64]],
    ['beside names of hosts', ['hosts {\n 192.0.2.1 own.test\n fallthrough\n }', ...NAT64]],
  ])('has readers translate addresses %s, for clients over IPv6 only', async (_, lines) => {
    const subject = await startSubject(`.:53 {\n ${lines.join('\n')}\n}\n`);
    const packet = makePacket('a.made.test', 'AAAA');
    for (let round = 0; round < 2; round++)
      for (const client of CLIENTS) {
        // The first answer of a cache is not stored.
        for (let turn = 0; turn < 2; turn++) await subject.askChain(packet, 'udp', client);
        const ours = subject.askTable(packet, undefined, 'udp', client);
        const theirs = await subject.askChain(packet, 'udp', client);
        expect(ours && toComparableMessage(ours)).toEqual(theirs && toComparableMessage(theirs));
        expect(ours?.answers.length, client.address).toBe(client.address === '2001:db8::1' ? 1 : 0);
      }
  });

  it('ends with its Corefile', async () => {
    const subject = await startSubject(`.:53 {\n ${MADE}\n}\n`);
    const { engine } = subject;
    expect(await isDerived(subject, 'a.made.test')).toBe(true);
    await engine.change(compilePlan(`.:53 {\n ${MADE.replace('100.1', '100.2')}\n}\n`));
    expect(subject.askTable(makePacket('a.made.test', 'A'))).toBeUndefined();
    expect(await isDerived(subject, 'a.made.test')).toBe(true);
  });

  it('has its answers stored however many Corefiles came before', async () => {
    const subject = await startSubject('.:53 {\n whoami\n}\n');
    for (let turn = 0; turn < 20; turn++) {
      const zone = `made-${turn}.test`;
      const answer = 'answer "{{ .Name }} 50 IN A 198.51.100.1"';
      await subject.engine.change(
        compilePlan(`.:53 {\n prometheus\n template IN A ${zone} {\n ${answer}\n }\n}\n`),
      );
      expect(await isDerived(subject, `a.${zone}`), zone).toBe(true);
      expect(await isDerived(subject, `a.${zone}`), zone).toBe(true);
    }
    const text = await subject.engine.metrics.render();
    for (const zone of ['made-0.test.', 'made-19.test.'])
      expect(text).toContain(
        `coredns_template_matches_total{server="${SERVER}",zone="${zone}",view="",class="IN",type="A"} 4`,
      );
  });

  it('counts what readers give for the plugins that made it', async () => {
    const subject = await startSubject(
      `.:53 {\n prometheus\n local\n ${MADE}\n template IN AAAA made.test {\n rcode NXDOMAIN\n }\n}\n`,
    );
    for (const [name, type] of [
      ['a.made.test', 'A'],
      ['b.made.test', 'AAAA'],
      ['x.localhost', 'A'],
    ] as const) {
      expect(await isDerived(subject, name, type)).toBe(true);
      subject.askTable(makePacket(name, type));
    }
    const text = await subject.engine.metrics.render();
    const site = `server="${SERVER}",zone=".",view=""`;
    const template = `coredns_template_matches_total{server="${SERVER}",zone="made.test.",view="",class="IN"`;
    expect(text).toContain(`${template},type="A"} 3`);
    expect(text).toContain(`${template},type="AAAA"} 3`);
    expect(text).toContain('coredns_local_localhost_requests_total 3');
    expect(text).toContain(`coredns_dns_responses_total{${site},rcode="NXDOMAIN",plugin="template"} 3`);
    expect(text).toContain(`coredns_dns_responses_total{${site},rcode="NOERROR",plugin="local"} 3`);
    expect(text).toContain(`coredns_dns_requests_total{${site},proto="udp",family="1",type="A"} 6`);
  });
});
