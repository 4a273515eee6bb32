/**
 * The Kubernetes DNS specification 1.1.0, section by section, beyond what the recorded cluster has.
 */
import { parseType } from '@portolan/dns/mnemonics.ts';
import type { EndpointsObject, ServiceObject, ServicePort } from '@portolan/kubernetes/objects/objects.ts';
import {
  AskableCluster,
  type DialectName,
  question,
} from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { describe, expect, it } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';

const http: ServicePort = { name: 'http', protocol: 'TCP', port: 80 };
const BLUE = { kind: 'Namespace', name: 'blue' } as const;

function service(name: string, address: ServiceObject['address'], ...ports: ServicePort[]): ServiceObject {
  return { kind: 'Service', namespace: 'blue', name, address, ports };
}
const clusterIPs = (...addresses: string[]) => ({ kind: 'clusterIPs', addresses }) as const;
const headless = { kind: 'headless' } as const;

function endpoints(
  name: string,
  ports: readonly ServicePort[],
  ...addresses: (readonly [string, string?])[]
) {
  const group = { addresses: addresses.map(([address, hostname]) => ({ address, hostname })), ports };
  const object: EndpointsObject = {
    kind: 'Endpoints',
    namespace: 'blue',
    name: `${name}-1`,
    service: name,
    groups: [group],
  };
  return object;
}

/** The answer of the plain chain, which the table gives too where it does not ask. */
async function ask(cluster: AskableCluster, name: string, type: string) {
  const asked = question(name.replace('~', 'cluster.local.'), parseType(type) ?? 0);
  const chain = recordMessage(await cluster.askChain(asked));
  const table = cluster.askTable(asked);
  if (table !== undefined) expect(recordMessage(table)).toEqual(chain);
  return { ...chain, isFromTable: table !== undefined };
}

async function answer(
  cluster: AskableCluster,
  name: string,
  type: string,
): Promise<string | readonly string[]> {
  const { rcode, answer: records } = await ask(cluster, name, type);
  if (rcode !== 'NOERROR') return rcode;
  return records.length > 0 ? records.map((record) => record.split(' ').slice(3).join(' ')) : 'NODATA';
}

function cluster(dialect: DialectName, ...objects: Parameters<AskableCluster['list']>[0]): AskableCluster {
  const made = new AskableCluster(dialect);
  made.list([BLUE, ...objects]);
  return made;
}

describe.each(['coredns', 'kube-dns'] as const)('%s', (dialect) => {
  it('2.3.1: a service of both families has A and AAAA', async () => {
    const dual = cluster(dialect, service('web', clusterIPs('10.96.0.1', 'FD00:0::1'), http));
    expect(await answer(dual, 'web.blue.svc.~', 'A')).toEqual(['10.96.0.1']);
    expect(await answer(dual, 'web.blue.svc.~', 'AAAA')).toEqual(['fd00::1']);
    expect((await ask(dual, '_http._tcp.web.blue.svc.~', 'SRV')).additional).toEqual([
      'web.blue.svc.cluster.local. 30 A 10.96.0.1',
      'web.blue.svc.cluster.local. 30 AAAA fd00::1',
    ]);
    const pointer = `1.${'0.'.repeat(27)}0.0.d.f.ip6.arpa.`;
    expect(await answer(dual, pointer, 'PTR')).toEqual(['web.blue.svc.cluster.local.']);
  });

  it('2.3.2: ports of every protocol have a name', async () => {
    const ports: ServicePort[] = [
      http,
      { name: 'sip', protocol: 'SCTP', port: 5060 },
      { ...http, protocol: 'UDP' },
    ];
    const web = cluster(dialect, service('web', clusterIPs('10.96.0.1'), ...ports));
    expect(await answer(web, '_sip._sctp.web.blue.svc.~', 'SRV')).toEqual([
      expect.stringMatching(/ 5060 web\.blue\.svc\.cluster\.local\.$/),
    ]);
    expect(await answer(web, '_http._udp.web.blue.svc.~', 'SRV')).toHaveLength(1);
    expect(await answer(web, '_sctp.web.blue.svc.~', 'SRV')).toBe('NODATA');
    expect(await answer(web, '_http._sctp.web.blue.svc.~', 'SRV')).toBe('NXDOMAIN');
  });

  it('2.4.1: endpoints of one hostname have all their addresses, endpoints of several slices count once', async () => {
    const db = cluster(
      dialect,
      service('db', headless),
      endpoints('db', [http], ['10.0.0.1', 'same'], ['10.0.0.2', 'same'], ['fd00::1', 'same']),
      { ...endpoints('db', [http], ['10.0.0.1', 'same'], ['10.0.0.3']), name: 'db-2' },
    );
    expect(await answer(db, 'db.blue.svc.~', 'A')).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    expect(await answer(db, 'same.db.blue.svc.~', 'A')).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(await answer(db, 'same.db.blue.svc.~', 'AAAA')).toEqual(['fd00::1']);
    expect(await answer(db, '_http._tcp.db.blue.svc.~', 'SRV')).toHaveLength(2);
    expect(await answer(db, '2.0.0.10.in-addr.arpa.', 'PTR')).toEqual(['same.db.blue.svc.cluster.local.']);
  });

  it('2.4.1: a headless service without a ready endpoint has no name', async () => {
    const db = cluster(dialect, service('db', headless, http), endpoints('db', [http]));
    expect(await answer(db, 'db.blue.svc.~', 'A')).toBe('NXDOMAIN');
    db.upsert(endpoints('db', [http], ['10.0.0.1', 'db-0']));
    db.cluster.settle();
    expect(await answer(db, 'db.blue.svc.~', 'A')).toEqual(['10.0.0.1']);
  });

  it('2.4.3: an address has a PTR record for each service that it is an endpoint of', async () => {
    const both = cluster(
      dialect,
      service('db', headless),
      service('all', headless),
      endpoints('db', [], ['10.0.0.1', 'db-0']),
      endpoints('all', [], ['10.0.0.1', 'db-0']),
    );
    const names = ['db-0.all.blue.svc.cluster.local.', 'db-0.db.blue.svc.cluster.local.'];
    expect(await answer(both, '1.0.0.10.in-addr.arpa.', 'PTR')).toEqual(names);
    both.cluster.services.remove('blue/all');
    both.cluster.settle();
    expect(await answer(both, '1.0.0.10.in-addr.arpa.', 'PTR')).toEqual(names.slice(1));
  });

  it('2.5: an alias leads to another service, and the table never remembers where that was', async () => {
    const alias = service('alias', { kind: 'externalName', name: 'web.blue.svc.cluster.local' });
    const web = cluster(dialect, alias, service('web', clusterIPs('10.96.0.1')));
    expect(await answer(web, 'alias.blue.svc.~', 'A')).toEqual(['web.blue.svc.cluster.local.', '10.96.0.1']);
    web.upsert(service('web', clusterIPs('10.96.0.2')));
    web.cluster.settle();
    expect(await answer(web, 'alias.blue.svc.~', 'A')).toEqual(['web.blue.svc.cluster.local.', '10.96.0.2']);
    expect((await ask(web, 'alias.blue.svc.~', 'A')).isFromTable).toBe(false);
  });

  it('serves all objects, whatever is odd about one', async () => {
    const odd = cluster(
      dialect,
      service('Odd.Name', clusterIPs('10.96.0.9'), http),
      service('x'.repeat(64), clusterIPs('10.96.0.8'), http),
      service('web', clusterIPs('not an address', '10.96.0.1'), { ...http, name: 'Not a label' }, http),
      service('db', headless),
      endpoints('db', [http], ['10.0.0.1', 'x'.repeat(64)], ['nonsense']),
      service('ext', { kind: 'externalName', name: 'not..a name' }),
    );
    expect(await answer(odd, 'web.blue.svc.~', 'A')).toEqual(['10.96.0.1']);
    expect(await answer(odd, 'db.blue.svc.~', 'A')).toEqual(['10.0.0.1']);
    expect(await answer(odd, 'ext.blue.svc.~', 'A')).toBe('NXDOMAIN');
    expect(await answer(odd, 'odd.name.blue.svc.~', 'A')).toBe('NXDOMAIN');
  });

  it('says SERVFAIL, never that a name is not there, until everything is listed', async () => {
    const starting = new AskableCluster(dialect);
    starting.begin([BLUE, service('web', clusterIPs('10.96.0.1')), service('db', headless)]);
    expect(await answer(starting, 'web.blue.svc.~', 'A')).toEqual(['10.96.0.1']);
    for (const [name, type] of [
      ['web.blue.svc.~', 'AAAA'],
      ['db.blue.svc.~', 'A'],
      ['nothing.blue.svc.~', 'A'],
      ['1-2-3-4.blue.pod.~', 'A'],
      ['1.0.0.10.in-addr.arpa.', 'PTR'],
    ] as const)
      expect([name, await answer(starting, name, type)]).toEqual([name, 'SERVFAIL']);
    expect(await answer(starting, 'www.example.com.', 'A')).toBe('REFUSED');
  });

  it('knows the names of a snapshot at once, and forgets what is not listed again', async () => {
    const before = cluster(
      dialect,
      service('web', clusterIPs('10.96.0.1')),
      service('db', headless),
      endpoints('db', [http], ['10.0.0.1', 'db-0']),
    );
    const after = new AskableCluster(dialect);
    expect(after.cluster.restore(Buffer.concat(before.cluster.snapshot().parts))).toBe(true);
    after.cluster.settle();
    expect(after.cluster.isKnown).toBe(false);
    expect(await answer(after, 'db-0.db.blue.svc.~', 'A')).toEqual(['10.0.0.1']);
    expect(await answer(after, 'nothing.blue.svc.~', 'A')).toBe('SERVFAIL');
    after.list([BLUE, service('web', clusterIPs('10.96.0.1'))]);
    expect(after.cluster.isKnown).toBe(true);
    expect(await answer(after, 'db-0.db.blue.svc.~', 'A')).toBe('NXDOMAIN');
    expect(await answer(after, '1.0.0.10.in-addr.arpa.', 'A')).toBe(
      dialect === 'coredns' ? 'NXDOMAIN' : 'REFUSED',
    );
  });
});

describe('pods', () => {
  const pods = async (mode: 'disabled' | 'insecure' | 'verified', dialect: DialectName) => {
    const made = new AskableCluster(dialect, { pods: mode });
    made.list([BLUE, { kind: 'Pod', namespace: 'blue', name: 'a', addresses: ['10.0.0.1', 'fd00::1'] }]);
    const names = ['10-0-0-1.blue', '10-0-0-2.blue', '10-0-0-1.green', 'fd00--1.blue', 'nonsense.blue'];
    const found: (string | readonly string[])[] = [];
    for (const name of names)
      found.push(await answer(made, `${name}.pod.~`, name.startsWith('fd') ? 'AAAA' : 'A'));
    return found;
  };

  it.each([
    ['coredns', 'disabled', ['NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN']],
    ['coredns', 'insecure', [['10.0.0.1'], ['10.0.0.2'], 'NXDOMAIN', ['fd00::1'], 'NXDOMAIN']],
    ['coredns', 'verified', [['10.0.0.1'], 'NXDOMAIN', 'NXDOMAIN', ['fd00::1'], 'NXDOMAIN']],
    ['kube-dns', 'disabled', ['NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN']],
    ['kube-dns', 'insecure', [['10.0.0.1'], ['10.0.0.2'], ['10.0.0.1'], 'NODATA', 'NODATA']],
    ['kube-dns', 'verified', [['10.0.0.1'], 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN']],
  ] as const)('%s, %s', async (dialect, mode, expected) =>
    expect(await pods(mode, dialect)).toEqual(expected),
  );
});

describe('the name server of coredns', () => {
  const dns = service('kube-dns', clusterIPs('10.96.0.10', 'fd00::10'));

  it('has the addresses of the service that leads to this machine', async () => {
    const made = cluster('coredns', dns, endpoints('kube-dns', [], ['192.0.2.2'], ['10.0.0.7']));
    expect(await answer(made, 'ns.dns.~', 'A')).toEqual(['10.96.0.10']);
    expect((await ask(made, '~', 'NS')).additional).toEqual([
      'kube-dns.blue.svc.cluster.local. 30 A 10.96.0.10',
      'kube-dns.blue.svc.cluster.local. 30 AAAA fd00::10',
    ]);
    made.upsert(service('kube-dns', clusterIPs('10.96.0.11')));
    made.cluster.settle();
    expect(await answer(made, 'ns.dns.~', 'A')).toEqual(['10.96.0.11']);
  });

  it('has those of the machine where there is no such service', async () => {
    const made = cluster('coredns', dns, endpoints('kube-dns', [], ['10.0.0.7']));
    expect(await answer(made, 'ns.dns.~', 'A')).toEqual(['192.0.2.2']);
    expect(await answer(made, 'dns.~', 'A')).toBe('NODATA');
  });
});

describe('wildcards of kube-dns', () => {
  const objects = [
    service('web', clusterIPs('10.96.0.1'), http),
    service('db', headless),
    endpoints('db', [http], ['10.0.0.1', 'db-0'], ['10.0.0.2']),
    service('ip', { kind: 'externalName', name: '192.0.2.7' }),
    { ...service('web', clusterIPs('10.96.0.2'), http), namespace: 'green' },
  ];

  it.each([
    ['*.web.blue.svc.~', 'A', ['10.96.0.1']],
    ['web.*.svc.~', 'A', ['10.96.0.1', '10.96.0.2']],
    ['*.*.svc.~', 'A', ['192.0.2.7']],
    ['db-0.*.blue.svc.~', 'A', ['10.0.0.1']],
    ['*._http._tcp.db.blue.svc.~', 'SRV', expect.toSatisfy((records) => records.length === 2)],
    ['_http._tcp.*.blue.svc.~', 'SRV', expect.toSatisfy((records) => records.length === 3)],
    ['_http.*.web.blue.svc.~', 'SRV', 'NXDOMAIN'],
    ['*.svc.~', 'A', 'NXDOMAIN'],
    ['any.web.blue.svc.~', 'A', 'NXDOMAIN'],
    ['*.missing.blue.svc.~', 'A', 'NXDOMAIN'],
  ])('%s %s', async (name, type, expected) => {
    expect(await answer(cluster('kube-dns', ...objects), name, type)).toEqual(expected);
  });

  it('are not known to coredns', async () =>
    expect(await answer(cluster('coredns', ...objects), '*.web.blue.svc.~', 'A')).toBe('NXDOMAIN'));
});
