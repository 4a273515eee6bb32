/**
 * Answers for names outside the cluster: the resolver, and where its servers come from.
 */
import { networkInterfaces } from 'node:os';
import { type Chain, composeChain, type Handler } from '../../chain/chain.ts';
import type { KubeDnsConfig } from '../../config/kube-dns/config-map.ts';
import type { ServerPlan } from '../../config/plan.ts';
import { isOfKubernetes } from '../../config/resolver/flags.ts';
import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import type { Outside } from '../../handlers/cluster-chain.ts';
import type { HiddenTypes } from '../../handlers/resolver/hidden-types.ts';
import { createNameResolver } from '../../handlers/resolver/name-resolver.ts';
import type { OctetAnswers, OctetAnswersOptions } from '../../handlers/resolver/octet-answers.ts';
import { Resolver, type ResolverFigures, type ResolverTerms } from '../../handlers/resolver/resolver.ts';
import type { TableWriter } from '../../table/writer.ts';
import { ROOT } from '../../wire/name.ts';
import type { NameKey, Question } from '../../wire/types.ts';
import { AskedDomains } from '../asked-domains.ts';
import { listLocalNetworks } from '../dnsmasq/local-terms.ts';
import { LocalSide } from '../local-side.ts';
import { isListeningAt } from '../own-addresses.ts';
import { foreignDomains } from './foreign-domains.ts';
import { ResolvFile } from './resolv-file.ts';
import { type ChangingServers, makeResolverTerms, NO_SERVERS } from './resolver-terms.ts';
import { makeServeLocalTerms } from './serve-local-terms.ts';

export interface OutsideAnswersOptions {
  readonly plan: ServerPlan;
  readonly table: TableWriter;
  /** All handlers, once they are there. */
  readonly chain: () => Chain;
  readonly clock: Clock;
  readonly log: Log;
}

export class OutsideAnswers implements Outside {
  /** Answers what is known without asking anybody. */
  readonly knownNames: Handler;
  readonly answer: Chain;
  readonly #options: OutsideAnswersOptions;
  readonly #local: LocalSide;
  readonly #resolver: Resolver;
  readonly #foreign: AskedDomains;
  readonly #file: ResolvFile | undefined;
  #terms: ResolverTerms;
  #changing = NO_SERVERS;

  constructor(options: OutsideAnswersOptions) {
    const { plan, table, chain, clock, log } = options;
    const { resolver, cluster, listen } = plan;
    this.#options = options;
    this.#terms = makeResolverTerms(resolver, NO_SERVERS);
    this.#local = this.#makeLocalSide();
    this.knownNames = this.#local.knownNames;
    const { filterReply, leavesAddresses, mayExist } = this.#local;
    this.#terms = { ...this.#terms, changes: [filterReply], leavesAddresses, mayExist };
    this.#foreign = new AskedDomains(table, log);
    this.#foreign.replace(foreignDomains(this.#terms.forward.rules, cluster.domain));
    this.#resolver = new Resolver(this.#terms, { table, clock, log, resolveName: createNameResolver(chain) });
    this.answer = composeChain([
      this.#local.keepKnownNames,
      this.#local.questionRules,
      (query) => this.#resolver.answer(query),
    ]);
    this.#file =
      resolver.upstreams.kind !== 'resolv-file'
        ? undefined
        : new ResolvFile({
            path: resolver.upstreams.path,
            isOurselves: ({ host, port }) =>
              host.kind === 'address' && isListeningAt(listen, host.address, port),
            onChange: (fromFile) => this.#follow({ fromFile }),
            clock,
            log,
          });
  }

  /** Whether there may be somebody to ask. */
  get offersRecursion(): boolean {
    const { upstreams } = this.#options.plan.resolver;
    return upstreams.kind !== 'none' || this.#terms.forward.rules.length > 0;
  }

  /** Types that nobody is to be told. */
  get hiddenTypes(): HiddenTypes {
    return this.#terms.hiddenTypes;
  }

  isElsewhere(name: NameKey): boolean {
    return this.#foreign.has(name);
  }

  isOwnProbe(question: Question): boolean {
    return this.#resolver.isOwnProbe(question);
  }

  /** Answers for addresses of names that are outside, where the cluster's zones do not matter. */
  answerInOctets(options: OctetAnswersOptions): OctetAnswers {
    const isOutside = (name: NameKey, type: number) =>
      !this.#local.concerns(name, type) && options.isOutside(name, type);
    return this.#resolver.answerInOctets({ ...options, isOutside });
  }

  /** Reads what there is to read. Ends when questions can be answered. */
  async start(): Promise<void> {
    const { plan, log } = this.#options;
    for (const note of plan.resolver.notes) log.warn('option of dnsmasq', { note });
    await this.#local.start();
    const servers = await this.#file?.start();
    if (servers !== undefined && servers.length > 0) this.#follow({ fromFile: servers });
    if (!this.#hasUpstreams()) this.#sayThatOthersAreRefused();
  }

  /** To be called once queries are received. */
  listening(): void {
    this.#resolver.start();
  }

  /** Asks the servers of a ConfigMap from now on. No question is lost, and what is cached of other domains stays. */
  followConfig(config: KubeDnsConfig): void {
    const { plan, log } = this.#options;
    const { domain } = plan.cluster;
    const isOwn = (name: NameKey) => name === domain || isOfKubernetes(name, domain);
    const own = config.stubDomains.filter((stub) => isOwn(stub.domain)).map((stub) => stub.domain);
    if (own.length > 0) {
      const reason = "their names are the cluster's own";
      log.warn('stub domains have no effect', { domains: own.slice(0, 10).join(' '), reason });
    }
    this.#follow({ config });
  }

  figures(): ResolverFigures {
    return this.#resolver.figures();
  }

  stop(): void {
    this.#file?.stop();
    this.#local.stop();
    this.#resolver.stop();
  }

  #makeLocalSide(): LocalSide {
    const { plan, table, clock, log } = this.#options;
    const { hosts, dnsmasq } = plan.resolver;
    return new LocalSide({
      terms: makeServeLocalTerms(hosts, dnsmasq, plan.cluster.ttl, networkInterfaces()),
      // The cache in front of kube-dns offers recursion in any case.
      recursionAvailable: this.offersRecursion || plan.cluster.dialect === 'kube-dns',
      networks: () => listLocalNetworks(networkInterfaces()),
      forget: (domains) => {
        for (const domain of domains) this.#resolver.forget(domain);
      },
      ...{ table, clock, log },
    });
  }

  #follow(changed: Partial<ChangingServers>): void {
    const { resolver, cluster } = this.#options.plan;
    this.#changing = { ...this.#changing, ...changed };
    const { forward } = makeResolverTerms(resolver, this.#changing);
    this.#terms = { ...this.#terms, forward };
    this.#foreign.replace(foreignDomains(forward.rules, cluster.domain));
    this.#resolver.change(this.#terms);
  }

  /** Whether names that no rule is for have somewhere to go. */
  #hasUpstreams(): boolean {
    return this.#terms.forward.rules.some(({ names, target }) => {
      const isForAll = names.some((match) => match.kind === 'domain' && match.name === ROOT);
      return isForAll && target.kind === 'servers' && target.servers.length > 0;
    });
  }

  #sayThatOthersAreRefused(): void {
    const { plan, log } = this.#options;
    const { upstreams } = plan.resolver;
    const message = 'names outside the cluster are refused';
    if (upstreams.kind === 'none') log.info(message, { reason: 'there are no upstream servers' });
    else if (upstreams.kind === 'resolv-file')
      log.warn(message, {
        reason: `no server in ${upstreams.path}`,
        remedy: 'Name servers there, which is followed, or with --upstream.',
      });
  }
}
