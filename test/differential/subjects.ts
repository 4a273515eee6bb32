/**
 * Engines of the roles whose readers and chains are compared, each with a cluster and an upstream server that knows all names.
 */
import { compileText } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { adaptBlocks } from '@portolan/frontends/node-cache/settings/node-cache-blocks.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import { PLAIN_GROUP } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { YesUpstream } from '../engine/yes-upstream.ts';
import { serveInProcess } from '../faults/in-process-server.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { bundleServerThreads } from '../support/bundle-thread.ts';
import type { Compared } from './comparison.ts';
import '../support/load-all-plugins.ts';

const OUTSIDE = ['www.example.com', 'a.b.c.example.org', 'localhost', 'version.bind', '.', 'arpa'];
const NAMES = [
  ...OUTSIDE,
  'web.default.svc.cluster.local',
  'db.default.svc.cluster.local',
  'cluster.local',
  'svc.cluster.local',
  '_http._tcp.web.default.svc.cluster.local',
  '1-2-3-4.default.pod.cluster.local',
  'missing.default.svc.cluster.local',
  'default.svc.cluster.local',
  'dns-version.cluster.local',
  '10.0.96.10.in-addr.arpa',
  'x.10.0.96.10.in-addr.arpa',
  '9.0.244.10.in-addr.arpa',
  '9.9.9.9.in-addr.arpa',
  '96.10.in-addr.arpa',
  'own.hosts.example',
  '8.2.0.192.in-addr.arpa',
  'x.8.2.0.192.in-addr.arpa',
];
const EXAMPLE_NAMES = [
  ...OUTSIDE,
  'cart.shop.svc.cluster.local',
  'kubernetes.default.svc.cluster.local',
  'cluster.local',
  'missing.shop.svc.cluster.local',
  'shop.svc.cluster.local',
  '1-2-3-4.shop.pod.cluster.local',
  '10.20.96.10.in-addr.arpa',
  'x.10.20.96.10.in-addr.arpa',
  '1.0.96.10.in-addr.arpa',
  'dns-version.cluster.local',
  '*.1.0.96.10.in-addr.arpa',
  '9.9.9.9.in-addr.arpa',
];

type Subject = Omit<Compared, 'transport'>;

async function startUpstream(): Promise<number> {
  return await new YesUpstream(systemClock, () => false).listen();
}

async function startApiServer(): Promise<string> {
  const objects = [
    namespace('default'),
    service('web', '10.96.0.10'),
    service('db', 'None'),
    slice('db-1', 'db', '10.244.0.9'),
  ];
  const double = await ApiServerDouble.start({ objects });
  onTestFinished(() => double.stop());
  return double.url;
}

async function startEngine(...corefile: Parameters<typeof compileText>): Promise<Engine> {
  const { engine: plan } = compileText(...corefile);
  const engine = new Engine(plan, {
    readers: 0,
    version: 'test',
    clock: systemClock,
    log: silentLog,
  });
  onTestFinished(() => engine.stop());
  await engine.start();
  return engine;
}

async function makeCoredns(): Promise<Subject> {
  const engine = await startEngine(`.:53 {
    errors
    hosts {
      192.0.2.8 own.hosts.example
      fallthrough
    }
    kubernetes cluster.local in-addr.arpa ip6.arpa {
      endpoint ${await startApiServer()}
      pods insecure
      fallthrough in-addr.arpa ip6.arpa
    }
    forward . 127.0.0.1:${await startUpstream()}
    cache 30
    loop
    loadbalance
  }`);
  return { engine, server: 'dns://:53', names: NAMES };
}

async function makeNodeCache(): Promise<Subject> {
  const upstream = await startUpstream();
  const block = (zone: string) => `${zone}:53 {
    errors
    cache {
      success 9984 30
      denial 9984 5
    }
    bind 169.254.20.10
    forward . 127.0.0.1:${upstream}
  }`;
  const corefile = ['cluster.local', 'in-addr.arpa', '.'].map(block).join('\n');
  const engine = await startEngine(corefile, adaptBlocks);
  return { engine, server: 'dns://169.254.20.10:53', names: NAMES };
}

async function makeServe(): Promise<Subject> {
  const upstream = `127.0.0.1:${await startUpstream()}`;
  const readerEntry = await bundleServerThreads();
  const { server } = await serveInProcess({ example: true, upstream: [upstream] }, { readerEntry });
  return { engine: server.engine, server: PLAIN_GROUP, names: EXAMPLE_NAMES };
}

export const SUBJECTS: ReadonlyMap<string, () => Promise<Subject>> = new Map([
  ['serve', makeServe],
  ['coredns', makeCoredns],
  ['node-cache', makeNodeCache],
]);
