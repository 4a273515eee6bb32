import { expect, it } from 'vitest';
import { AskableCluster, question } from '../../test/cluster/askable-cluster.ts';
import { RecordingLog } from '../../test/support/recording-log.ts';
import type { ClusterObject } from '../kube/objects.ts';
import { TableWriter } from '../table/writer.ts';
import { encodeName, parseName, toKey } from '../wire/name.ts';
import { RCODE, TYPE } from '../wire/types.ts';
import { AskedDomains } from './asked-domains.ts';

const key = (name: string) => toKey(parseName(name));

const SERVICE: ClusterObject = {
  ...{ kind: 'Service', namespace: 'fed', name: 'web', ports: [] },
  address: { kind: 'clusterIPs', addresses: ['10.96.0.1'] },
};

function startCluster() {
  const cluster = new AskableCluster('kube-dns');
  const asked = new AskedDomains(cluster.table, new RecordingLog());
  const rcode = (name: string) => {
    const message = cluster.askTable(question(name, TYPE.A));
    return message === undefined ? 'asks' : message.header.rcode;
  };
  return { cluster, asked, rcode };
}

it('leaves names to the chain, and no others, listed or not', () => {
  const { cluster, asked, rcode } = startCluster();
  asked.replace([key('corp.cluster.local.')]);
  expect(rcode('a.corp.cluster.local.')).toBe('asks');
  cluster.list([]);
  expect(['corp.cluster.local.', 'a.b.corp.cluster.local.'].map(rcode)).toEqual(['asks', 'asks']);
  expect(['corps.cluster.local.', 'x.cluster.local.'].map(rcode)).toEqual([RCODE.NXDOMAIN, RCODE.NXDOMAIN]);
  expect(
    ['corp.cluster.local.', 'a.corp.cluster.local.', 'cluster.local.'].map((name) => asked.has(key(name))),
  ).toEqual([true, true, false]);
});

it('gives names back', () => {
  const { cluster, asked, rcode } = startCluster();
  cluster.list([]);
  asked.replace([key('a.cluster.local.'), key('b.cluster.local.')]);
  asked.replace([key('b.cluster.local.'), key('c.cluster.local.')]);
  expect(['x.a.cluster.local.', 'x.b.cluster.local.', 'x.c.cluster.local.'].map(rcode)).toEqual([
    RCODE.NXDOMAIN,
    'asks',
    'asks',
  ]);
  asked.replace([]);
  expect(rcode('x.b.cluster.local.')).toBe(RCODE.NXDOMAIN);
});

it('lets a namespace of the same name have its services, whichever came first', () => {
  const { cluster, asked, rcode } = startCluster();
  asked.replace([key('fed.svc.cluster.local.')]);
  cluster.list([SERVICE]);
  expect(rcode('web.fed.svc.cluster.local.')).toBe(RCODE.NOERROR);
  expect(rcode('other.fed.svc.cluster.local.')).toBe('asks');
  asked.replace([]);
  expect(rcode('other.fed.svc.cluster.local.')).toBe(RCODE.NXDOMAIN);
  asked.replace([key('fed.svc.cluster.local.')]);
  expect(rcode('other.fed.svc.cluster.local.')).toBe('asks');
  expect(rcode('web.fed.svc.cluster.local.')).toBe(RCODE.NOERROR);
});

it('goes on without what the table has no room for', () => {
  const log = new RecordingLog();
  const table = new TableWriter({ readers: 1, reservation: 2 ** 22, cacheEntries: 0 });
  const asked = new AskedDomains(table, log);
  const names = Array.from({ length: 60_000 }, (_, index) =>
    key(`${'x'.repeat(60)}.${index}.cluster.local.`),
  );
  asked.replace(names);
  expect(log.records[0]).toMatchObject({ level: 'error', message: 'no room in the table for a domain' });
  expect(table.find(encodeName(names[0] ?? key('x.')))).toBeDefined();
  asked.replace([]);
  expect(table.find(encodeName(names[0] ?? key('x.')))).toBeUndefined();
});
