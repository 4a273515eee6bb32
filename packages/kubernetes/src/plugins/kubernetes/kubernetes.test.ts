import { parseName } from '@portolan/dns/name.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { composeChain, type Handler } from '@portolan/kernel/chain/handler.ts';
import {
  addresses,
  denial,
  makeHandler,
  makeQuery,
  record,
  told,
} from '@portolan/kernel/chain/testing/queries.ts';
import { createAliasFollower } from '@portolan/plugins/aliases/alias.ts';
import { describe, expect, it } from 'vitest';
import type { ClusterObject } from '../../objects/objects.ts';
import { createKubernetesHandler } from './kubernetes.ts';
import { AskableCluster, type DialectName } from './testing/askable-cluster.ts';

const OBJECTS: readonly ClusterObject[] = [
  { kind: 'Namespace', name: 'blue' },
  {
    kind: 'Service',
    namespace: 'blue',
    name: 'web',
    ports: [],
    address: { kind: 'clusterIPs', addresses: ['10.96.0.1'] },
  },
  {
    kind: 'Service',
    namespace: 'blue',
    name: 'out',
    ports: [],
    address: { kind: 'externalName', name: 'www.example.com' },
  },
];

/** Other handlers, which know `www.example.com` and 192.0.2.1, and never refuse. */
const resolver = makeHandler(({ question, key }) => {
  if (key === 'www.example.com.') return addresses(question.name, '192.0.2.7');
  const data = { kind: 'PTR', target: parseName('elsewhere.example.') } as const;
  if (key !== '1.2.0.192.in-addr.arpa.') return denial('nxdomain');
  return { kind: 'records', records: [record(key, data)], additionals: [], authoritative: false };
});

async function ask(
  dialect: DialectName,
  others: readonly Handler[],
  name: string,
  type: string,
): Promise<Answer> {
  const askable = new AskableCluster(dialect);
  askable.list(OBJECTS);
  const chain = composeChain([
    createAliasFollower(silentLog, new ManualClock()),
    createKubernetesHandler(askable.cluster),
    ...others,
  ]);
  return chain(makeQuery(name, type));
}

describe.each(['coredns', 'kube-dns'] as const)('names of the cluster before a resolver: %s', (dialect) => {
  it('are never asked of others', async () => {
    expect(told(await ask(dialect, [resolver], 'web.blue.svc.cluster.local.', 'A'))).toHaveLength(2);
    expect((await ask(dialect, [resolver], 'x.blue.svc.cluster.local.', 'A')).kind).toBe('nxdomain');
    expect(told(await ask(dialect, [resolver], '1.0.96.10.in-addr.arpa.', 'PTR'))).toHaveLength(2);
    expect((await ask(dialect, [resolver], '1.0.96.10.in-addr.arpa.', 'TXT')).kind).toBe('nodata');
  });

  it('leave names of addresses that we do not hold to others', async () => {
    const answer = await ask(dialect, [resolver], '1.2.0.192.in-addr.arpa.', 'PTR');
    expect(told(answer)).toEqual(['records', '1.2.0.192.in-addr.arpa. 30 IN PTR elsewhere.example.']);
    const without = await ask(dialect, [], '1.2.0.192.in-addr.arpa.', 'PTR');
    expect(without.kind).toBe(dialect === 'coredns' ? 'nxdomain' : 'refused');
  });

  it('leave all other names to others', async () => {
    expect(told(await ask(dialect, [resolver], 'www.example.com.', 'A'))).toHaveLength(2);
    expect((await ask(dialect, [], 'www.example.com.', 'A')).kind).toBe('refused');
  });

  it('follow an alias to the outside', async () => {
    expect(told(await ask(dialect, [resolver], 'out.blue.svc.cluster.local.', 'A'))).toEqual([
      'records',
      'out.blue.svc.cluster.local. 30 IN CNAME www.example.com.',
      'www.example.com. 30 IN A 192.0.2.7',
    ]);
  });
});
