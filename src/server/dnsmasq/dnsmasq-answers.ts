/**
 * Everything between dnsmasq's options and an answer: the table, the handler chain, the upstream servers.
 */
import { createAnswerSlowly } from '../../chain/answer-slowly.ts';
import { type Chain, composeChain } from '../../chain/chain.ts';
import type { Query } from '../../chain/query.ts';
import type { DnsmasqPlan } from '../../config/dnsmasq/plan.ts';
import { Forwarder } from '../../forward/forwarder.ts';
import type { ResolvedName } from '../../forward/named-servers.ts';
import type { Clock, Timer } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { createChaosHandler } from '../../handlers/chaos.ts';
import { checkQuestionKind } from '../../handlers/question-kinds.ts';
import { Forwarding } from '../../handlers/resolver/forwarding.ts';
import { Remembering } from '../../handlers/resolver/remembering.ts';
import type { AnswerSlowly } from '../../listen/types.ts';
import { CounterSums } from '../../table/counters.ts';
import { TableReader } from '../../table/reader.ts';
import { TableWriter } from '../../table/writer.ts';
import { encodeName, ROOT } from '../../wire/name.ts';
import type { AbsoluteName } from '../../wire/types.ts';
import { countAnswers } from '../answer-counts.ts';
import { isCachedType, makeCachingRules, makeStaleTerms } from './caching-rules.ts';
import { type ChangingServers, makeForwardPlan } from './forward-plan.ts';
import { resolveNameBy } from './own-names.ts';
import { type DnsmasqStatistics, describeServers } from './statistics.ts';

export interface DnsmasqAnswersOptions {
  readonly plan: DnsmasqPlan;
  /** Reader threads. */
  readonly udpReaders: number;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Octets for cached answers: room for as many as the option says, of a common size, within bounds. */
const OCTETS_PER_ANSWER = 512;
const LEAST_CACHE_OCTETS = 4 * 2 ** 20;
const MOST_CACHE_OCTETS = 512 * 2 ** 20;
const SUM_MILLISECONDS = 600_000;
const EVERYTHING = encodeName(ROOT);

export class DnsmasqAnswers {
  readonly table: TableWriter;
  /** The main thread's own look-ups. */
  readonly reader: TableReader;
  readonly answerSlowly: AnswerSlowly;
  readonly forwarder: Forwarder;
  readonly #plan: DnsmasqPlan;
  readonly #clock: Clock;
  readonly #sums: CounterSums;
  readonly #remembering: Remembering;
  #generation = 0;
  #timer: Timer | undefined;

  constructor({ plan, udpReaders, version, clock, log }: DnsmasqAnswersOptions) {
    this.#plan = plan;
    this.#clock = clock;
    this.table = new TableWriter({
      readers: udpReaders + 1,
      cacheEntries: plan.cache.size,
      cacheOctets: Math.min(
        Math.max(plan.cache.size * OCTETS_PER_ANSWER, LEAST_CACHE_OCTETS),
        MOST_CACHE_OCTETS,
      ),
    });
    this.reader = new TableReader(this.table.memory, udpReaders, plan.listen.ednsPacketMax);
    this.#sums = new CounterSums(this.table.memory, udpReaders + 1);
    const nothingYet: ChangingServers = { fromResolvFile: [], moreRoutes: [] };
    this.forwarder = new Forwarder(makeForwardPlan(plan, nothingYet), {
      ...{ clock, log },
      resolveName: (name) => this.#resolveName(name),
    });
    this.#remembering = this.#makeRemembering(log);
    const chain = this.#makeChain(version);
    const answerSlowly = createAnswerSlowly(chain, {
      recursionAvailable: true,
      udpSize: plan.listen.ednsPacketMax,
      log,
    });
    this.answerSlowly = countAnswers(answerSlowly, new Uint32Array(this.table.memory), udpReaders);
    this.#sumNowAndThen();
  }

  /** Follows other servers. Cached answers stay, as they do in dnsmasq. */
  follow(servers: ChangingServers): void {
    this.#generation += 1;
    this.forwarder.change(makeForwardPlan(this.#plan, servers));
  }

  clearCache(): void {
    this.#generation += 1;
    this.table.dropCachedWithin(EVERYTHING);
    this.table.collect();
  }

  statistics(): Omit<DnsmasqStatistics, 'connections' | 'mostConnections'> {
    const { misses, stale } = this.#remembering.count();
    const { insertions, evictions, cachedOctets } = this.table.statistics();
    const { inFlight, upstreams } = this.forwarder.statistics();
    const { byTypeAndRcode } = this.#sums.read();
    const answered = byTypeAndRcode.reduce((sum, { count }) => sum + count, 0);
    return {
      ...{ cacheSize: this.#plan.cache.size, insertions, evictions, misses, stale, inFlight },
      hits: Math.max(0, answered - misses),
      cacheOctets: cachedOctets,
      servers: describeServers(upstreams),
    };
  }

  stop(): void {
    this.#timer?.cancel();
    this.forwarder.stop();
  }

  #makeRemembering(log: Log): Remembering {
    const { cache, filters } = this.#plan;
    const terms = { caching: makeCachingRules(cache), changes: [], hiddenTypes: new Set(filters.types) };
    const forwarding = new Forwarding(this.forwarder, () => terms, this.#clock, log);
    const stale = makeStaleTerms(cache);
    return new Remembering({
      ask: async (query) => {
        const answer = await forwarding.answer(query);
        const isKept = answer.kind !== 'forwarded' || isCachedType(query.question.type, cache);
        return isKept ? answer : { ...answer, memory: undefined };
      },
      ...{ store: this.table, clock: this.#clock, recursionAvailable: true },
      stale: () => stale,
      generation: () => this.#generation,
    });
  }

  #makeChain(version: string): Chain {
    const { identifies, ttl } = this.#plan.local;
    const chaos = createChaosHandler({
      version: `portolan-${version}`,
      authors: 'The authors of Portolan',
      copyright: 'Copyright The authors of Portolan; Apache License 2.0',
      ttl,
      figures: () => this.statistics(),
    });
    return composeChain([
      ...(identifies ? [chaos] : []),
      checkQuestionKind,
      (query: Query) => this.#remembering.answer(query),
    ]);
  }

  /** Servers that are given by name are looked up through ourselves. */
  #resolveName(name: AbsoluteName): Promise<ResolvedName> {
    return resolveNameBy(this.answerSlowly, name);
  }

  /** Readers count in 32 bits: their counts are taken before they come round, whether or not anybody asks. */
  #sumNowAndThen(): void {
    this.#timer = this.#clock.after(SUM_MILLISECONDS, () => {
      this.#sums.read();
      this.#sumNowAndThen();
    });
  }
}
