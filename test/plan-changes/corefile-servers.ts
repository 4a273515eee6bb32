/**
 * `coredns` and `node-cache`, whose plans come from Corefiles.
 */
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { CoreDnsFrontEnd } from '@portolan/frontends/coredns/run/coredns-front-end.ts';
import { CoreDnsMetrics } from '@portolan/frontends/coredns/run/coredns-metrics.ts';
import {
  type CorefileSettings,
  readCorefile,
  readDigest,
  type ServerBlock,
} from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { FollowedCorefile } from '@portolan/frontends/node-cache/run/followed-corefile.ts';
import { adaptBlocks } from '@portolan/frontends/node-cache/settings/node-cache-blocks.ts';
import { readNodeCacheFlags } from '@portolan/frontends/node-cache/settings/node-cache-flags.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { onTestFinished } from 'vitest';
import { ADDRESS, type ChangingServer, replaceFile, type Scene } from './scene.ts';

export async function startCoreDns(scene: Scene): Promise<ChangingServer> {
  const [port, metrics, upstream] = [
    await findFreePort(ADDRESS),
    await findFreePort(ADDRESS),
    await scene.startUpstream(),
  ];
  const [{ etcd }, cluster] = [await scene.startEtcd(), await scene.startCluster()];
  const folder = await makeTemporaryFolder();
  const zone = await folder.write(
    'db.file.test',
    '@ 60 IN SOA ns hostmaster 1 7200 1800 86400 5\n  60 IN NS ns\nns 60 IN A 192.0.2.5\n',
  );
  const write = (index: number) =>
    makeCorefile(index, { port, metrics, upstream, zone, etcd: etcd.first.url, api: cluster.url });
  let text = write(0);
  const frontEnd = makeCoreDnsFrontEnd(scene, () => text);
  const change = async (index: number) => {
    text = write(index);
    await frontEnd.reload();
  };
  const names = [
    'web.default.svc.cluster.local',
    'a.skydns.test',
    'own.test',
    'short.test',
    'outside.example',
  ];
  return await scene.serve({
    frontEnd,
    port,
    change,
    names: [...names, 'x.same.test', 'x.t.test', 'ns.file.test', 'x.z.test'],
  });
}

interface CorefileParts {
  readonly port: number;
  readonly metrics: number;
  readonly upstream: string;
  readonly zone: string;
  readonly etcd: string;
  readonly api: string;
}

/** A block of most plugins that changes, one that stays, one with derived answers, and one that comes and goes. */
function makeCorefile(index: number, { port, metrics, upstream, zone, etcd, api }: CorefileParts): string {
  const shared = `bind ${ADDRESS}\n prometheus ${ADDRESS}:${metrics}\n errors`;
  const kubernetes = `kubernetes cluster.local in-addr.arpa {
  endpoint ${api}
  pods verified
  ttl ${index % 3600}
  fallthrough in-addr.arpa
 }`;
  const template = (name: string) => `template IN A ${name} {
  match ^x[.]
  answer "{{ .Name }} 60 IN A 192.0.2.${index % 256}"
  fallthrough
 }`;
  return `.:${port} {
 ${shared}
 log
 ready ${ADDRESS}:${metrics}
 loadbalance
 rewrite name exact short.test web.default.svc.cluster.local answer auto
 hosts {
  192.0.2.${index % 256} own.test
  fallthrough
 }
 ${kubernetes}
 etcd skydns.test {
  endpoint ${etcd}
 }
 cache ${10 + (index % 100)} {
  prefetch 2
  serve_stale
 }
 forward . ${upstream} {
  max_concurrent ${1000 + index}
 }
}
same.test:${port} {
 ${shared}
 cache 30
 forward . ${upstream}
}
t.test:${port} {
 ${shared}
 acl {
  block net 198.51.100.${index % 256}
 }
 ${template('t.test')}
}
file.test:${port} {
 ${shared}
 file ${zone} {
  reload ${10 + index}s
 }
}
z.test:${port} z${index % 5}.test:${port} {
 ${shared}
 ${template('.')}
 cache ${10 + (index % 100)}
 forward . ${upstream}
}
`;
}

function makeCoreDnsFrontEnd(
  scene: Scene,
  text: () => string,
  adapt: (blocks: readonly ServerBlock[]) => readonly ServerBlock[] = (blocks) => blocks,
): CoreDnsFrontEnd {
  const settings: CorefileSettings = {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: DISK_FILES,
    interfaces: new Map(),
  };
  const read = () => {
    const reading = readCorefile(text(), settings);
    if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems));
    return { ...reading, blocks: adapt(reading.blocks) };
  };
  return new CoreDnsFrontEnd({
    reading: read(),
    takeover: false,
    restored: NOTHING_RESTORED,
    queryLog: undefined,
    digest: () => readDigest(text(), settings),
    read,
    metrics: () => scene.engine.metrics,
    metricsText: () => new CoreDnsMetrics(scene.server, undefined).render(),
    notReady: (wasReady) => scene.engine.serverBlocks.notReady(wasReady),
    ...scene.dependencies,
  });
}

export async function startNodeCache(scene: Scene): Promise<ChangingServer> {
  const [port, metrics, upstream] = [
    await findFreePort(ADDRESS),
    await findFreePort(ADDRESS),
    await scene.startUpstream(),
  ];
  const folder = await makeTemporaryFolder();
  const config = await makeTemporaryFolder();
  const shared = `errors\n cache 30\n loop\n bind __PILLAR__LOCAL__DNS__\n prometheus ${ADDRESS}:${metrics}`;
  const template = await folder.write(
    'Corefile.base',
    `cluster.local:${port} {\n ${shared}\n forward . ${upstream} {\n  force_tcp\n }\n}\n.:${port} {\n ${shared}\n forward . __PILLAR__UPSTREAM__SERVERS__\n}\n`,
  );
  const conf = `${folder.path}/Corefile`;
  const reading = readNodeCacheFlags([
    '-localip',
    ADDRESS,
    '-conf',
    conf,
    '-basecorefile',
    template,
    '-setupinterface=false',
    '-setupiptables=false',
  ]);
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  let text = '';
  let isServing = false;
  const corefile = new FollowedCorefile({
    plan: { ...reading.plan, port, configFolder: config.path },
    onChange: () => {
      text = DISK_FILES.read(conf);
      if (isServing) void scene.server.reload();
    },
    onError: () => {},
    ...scene.following,
  });
  onTestFinished(() => corefile.stop());
  const change = async (index: number) => {
    const stubDomains = { [`v${index % 5}.stub.test`]: [upstream], 'stub.test': [upstream] };
    if (index % 2 === 0) await replaceFile(`${config.path}/stubDomains`, JSON.stringify(stubDomains));
    else
      await replaceFile(
        template,
        DISK_FILES.read(template).replaceAll(/cache \d+/g, `cache ${10 + (index % 50)}`),
      );
  };
  await config.write('upstreamNameservers', JSON.stringify([upstream]));
  await corefile.start();
  const frontEnd = makeCoreDnsFrontEnd(scene, () => text, adaptBlocks);
  const serving = await scene.serve({
    frontEnd,
    port,
    change,
    names: ['x.cluster.local', 'outside.example', 'x.stub.test'],
  });
  isServing = true;
  return serving;
}
