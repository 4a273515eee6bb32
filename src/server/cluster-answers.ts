/**
 * Everything between the objects of a cluster and an answer: the table, the cluster's names in it, the handler chain, and
 * behind it what others know.
 */

import { createAnswerSlowly } from '../chain/answer-slowly.ts';
import type { Handler } from '../chain/chain.ts';
import type { KubeDnsConfig } from '../config/kube-dns/config-map.ts';
import type { ServerPlan } from '../config/plan.ts';
import type { Clock, Timer } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { createClusterChain } from '../handlers/cluster-chain.ts';
import type { Federation } from '../handlers/federation/plan.ts';
import { Cluster, SnapshotLineError } from '../kube/cluster.ts';
import type { ClusterSinks } from '../kube/list-watch/cluster-watch.ts';
import type { AnswerInOctets, AnswerSlowly } from '../listen/types.ts';
import { CounterSums, type QueryCounts } from '../table/counter-sums.ts';
import { TableReader } from '../table/reader.ts';
import { TableWriter } from '../table/writer.ts';
import { countAnswers, createAnswerCount } from './answer-counts.ts';
import { mostTtlOf } from './dnsmasq/caching-rules.ts';
import { createCacheIdentity } from './kube-dns/cache-identity.ts';
import { Federations } from './kube-dns/federations.ts';
import type { EndpointsFrom } from './object-source.ts';
import { listOwnAddresses } from './own-addresses.ts';
import { OutsideAnswers } from './resolver/outside-answers.ts';

const SUM_MILLISECONDS = 600_000;

export class ClusterAnswers {
  readonly table: TableWriter;
  readonly cluster: Cluster;
  readonly outside: OutsideAnswers;
  readonly federations: Federations;
  /** The main thread's own look-ups. */
  readonly reader: TableReader;
  readonly answerSlowly: AnswerSlowly;
  readonly answerInOctets: AnswerInOctets;
  readonly endpointsFrom: EndpointsFrom;
  /** Those of the flags. */
  readonly #federations: readonly Federation[];
  readonly #sums: CounterSums;
  #timer: Timer | undefined;

  /**
   * @param version what it says of itself where it is asked to
   * @throws RangeError for a domain that leaves no room for services
   */
  constructor(plan: ServerPlan, version: string, clock: Clock, log: Log) {
    const { listen, resolver } = plan;
    const { dialect } = plan.cluster;
    // One number for each reader thread, and the last for the main thread.
    const readers = listen.udpReaders + 1;
    const { cacheOctets, cacheEntries = Number.POSITIVE_INFINITY } = resolver;
    this.table = new TableWriter({
      readers,
      cacheOctets,
      cacheEntries: cacheOctets === 0 ? 0 : cacheEntries,
      mostTtl: resolver.dnsmasq && mostTtlOf(resolver.dnsmasq.cache),
    });
    this.reader = new TableReader(this.table.memory, listen.udpReaders);
    this.outside = new OutsideAnswers({ plan, table: this.table, chain: () => chain, clock, log });
    this.#federations = plan.federations;
    this.federations = new Federations(plan.cluster.domain, this.table, log);
    this.federations.replace(plan.federations);
    // The cache in front of kube-dns offers recursion in any case.
    const recursionAvailable = this.outside.offersRecursion || dialect === 'kube-dns';
    this.cluster = this.#makeCluster(plan, recursionAvailable, clock, log);
    this.endpointsFrom = dialect === 'kube-dns' ? 'endpoints' : 'slices-then-endpoints';
    const { cluster, outside, federations } = this;
    const { hiddenTypes } = outside;
    const chain = createClusterChain({
      ...{ cluster, dialect, federations, hiddenTypes, outside, clock, log },
      chaos: plan.sidecar && this.#makeChaos(plan, version),
    });
    const answerSlowly = createAnswerSlowly(chain, { recursionAvailable, log });
    const { memory } = this.table;
    const { domain } = plan.cluster;
    const counting = { memory, reader: listen.udpReaders, domain, clock };
    this.answerSlowly = countAnswers(answerSlowly, counting);
    const inOctets = outside.answerInOctets({
      isOutside: (name) => cluster.names.zoneOf(name) === undefined,
      onAnswer: createAnswerCount(counting),
    });
    this.answerInOctets = (asker) => inOctets.ask(asker);
    this.#sums = new CounterSums(this.table.memory, readers);
    this.#sumNowAndThen(clock);
  }

  /** Where objects go; a kind that the dialect has no use for has no sink. */
  get sinks(): ClusterSinks {
    const { services, endpoints, namespaces, pods, neededKinds } = this.cluster;
    return {
      services,
      endpoints,
      namespaces: neededKinds.includes('Namespace') ? namespaces : undefined,
      pods: neededKinds.includes('Pod') ? pods : undefined,
    };
  }

  /** The state as lines, once it is whole. */
  snapshot(): readonly string[] | undefined {
    return this.cluster.isKnown ? [...this.cluster.snapshot()] : undefined;
  }

  /** @returns why the lines could not be taken in, if so */
  restore(lines: readonly string[]): string | undefined {
    try {
      if (lines.length > 0) this.cluster.restore(lines);
      // The names are to be known before the first question.
      this.cluster.settle();
      return undefined;
    } catch (error) {
      if (error instanceof SnapshotLineError) return error.message;
      throw error;
    }
  }

  /** Takes in the settings of a ConfigMap. Where it names no federations, those of the flags hold. */
  followConfig(config: KubeDnsConfig): void {
    this.outside.followConfig(config);
    const { federations } = config;
    this.federations.replace(federations.length > 0 ? federations : this.#federations);
  }

  countQueries(): QueryCounts {
    return this.#sums.read();
  }

  stop(): void {
    this.#timer?.cancel();
    this.outside.stop();
    this.cluster.stop();
  }

  #makeCluster(plan: ServerPlan, recursionAvailable: boolean, clock: Clock, log: Log): Cluster {
    const { domain, dialect, pods, ttl } = plan.cluster;
    const ownAddresses = listOwnAddresses(plan.listen);
    const { hiddenTypes } = this.outside;
    const options = { domain, dialect, pods, ttl, ownAddresses, recursionAvailable, hiddenTypes };
    return new Cluster(options, this.table, clock, log);
  }

  #makeChaos({ resolver, cluster }: ServerPlan, version: string): Handler {
    return createCacheIdentity({
      ...{ version, resolver, ttl: cluster.ttl },
      table: () => this.table.statistics(),
      queries: () => this.countQueries(),
      outside: () => this.outside.figures(),
    });
  }

  /** Readers count in 32 bits: their counts are taken before they come round, whether or not anybody asks. */
  #sumNowAndThen(clock: Clock): void {
    this.#timer = clock.after(SUM_MILLISECONDS, () => {
      this.#sums.read();
      this.#sumNowAndThen(clock);
    });
  }
}
