/**
 * Up to two hundred changes of the whole plan, by every front end: former plans are not referenced, the number of instances that belong
 * to a plan does not grow, and the sizes of heap and answer table stay constant.
 */
import { EtcdPlugin } from '@portolan/etcd/plugins/etcd/etcd-plugin.ts';
import { EtcdSource } from '@portolan/etcd/source/etcd-source.ts';
import { ServerBlocks } from '@portolan/kernel/engine/server-blocks/server-blocks.ts';
import { Upstream } from '@portolan/kernel/forward/upstream/upstream.ts';
import { ClusterWatch } from '@portolan/kubernetes/api/list-watch/cluster-watch.ts';
import { Kubernetes } from '@portolan/kubernetes/plugins/kubernetes/kubernetes-plugin.ts';
import { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { Cache } from '@portolan/plugins/cache/cache.ts';
import { CacheStore } from '@portolan/plugins/cache/cache-store.ts';
import { File } from '@portolan/plugins/file/file.ts';
import { Forward } from '@portolan/plugins/forward/forward.ts';
import { Hosts } from '@portolan/plugins/hosts/hosts.ts';
import { LocalHandlers } from '@portolan/plugins/local-names/local-handlers.ts';
import { beforeAll, expect } from 'vitest';
import { FRONT_ENDS, startChanging } from '../../plan-changes/changing-servers.ts';
import { changePlans } from '../../plan-changes/former-plans.ts';
import { countInstances, findGrown, heapUsed } from '../../plan-changes/heap.ts';
import type { Surroundings } from '../../plan-changes/scene.ts';
import { bundleServerThreads } from '../../support/bundle-thread.ts';
import { bundleDouble } from '../../support/double-process.ts';
import { soakLength } from '../../support/soak-length.ts';
import { itWithTool } from '../../support/tools.ts';

const CHANGES = soakLength(200, 25);
/** What there is after so many is what there may be after all. */
const EARLY = soakLength(50, 10);
/** One part in so many that the heap may grow by. Before a plan let go of the one before, that of `coredns` nearly doubled. */
const GROWTH = 1.05;
const MINUTES = 60_000;

const CLASSES = [
  ServerBlocks,
  Cache,
  CacheStore,
  EtcdPlugin,
  File,
  Forward,
  Hosts,
  Kubernetes,
  LocalHandlers,
  Upstream,
  Cluster,
  ClusterWatch,
  EtcdSource,
];

let surroundings: Surroundings;

beforeAll(async () => {
  const readerEntry = await bundleServerThreads();
  surroundings = { readerEntry, doubleEntry: await bundleDouble() };
});

for (const { name, tools } of FRONT_ENDS)
  itWithTool(
    tools,
    `${name} holds nothing of ${CHANGES} former plans`,
    async () => {
      const server = await startChanging(name, surroundings);
      expect(await changePlans(server, 1, EARLY)).toEqual([]);
      const instances = countInstances(CLASSES);
      expect(instances['ServerBlocks']).toBeGreaterThan(0);
      const heap = await heapUsed();
      const { touchedOctets } = server.table.statistics();
      expect(await changePlans(server, EARLY + 1, CHANGES)).toEqual([]);
      // What ends later than the plan, such as a connection, may be there a moment longer.
      await expect.poll(() => findGrown(CLASSES, instances)).toEqual([]);
      expect(server.table.statistics().touchedOctets - touchedOctets).toBeLessThan(2 ** 20);
      await expect.poll(async () => (await heapUsed()) / heap).toBeLessThan(GROWTH);
    },
    10 * MINUTES,
  );
