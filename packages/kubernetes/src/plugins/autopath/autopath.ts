/**
 * Searches in place of a client: where a name below the first domain of its search list is missing, answers with the first name
 * of the list that exists.
 *
 * A client that gets the answer for a missing name walks its list by itself, so passing on is right wherever the list is not known.
 */
import { readFile } from 'node:fs/promises';
import { parseKey, tryParseName } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { CountFamily } from '@portolan/kernel/chain/handler-counts.ts';
import { isWithinAny, missingNamesWithin, NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { isResponse, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { Plugin, PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { isLeftToChain, type RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { parseSearchDomains } from '@portolan/kernel/forward/resolv-conf.ts';
import type { PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { Acl } from '@portolan/plugins/acl/acl.ts';
import { Kubernetai } from '../kubernetai/kubernetai-plugin.ts';
import { Kubernetes } from '../kubernetes/kubernetes-plugin.ts';
import { ClusterSearch, listOfSeveral } from './cluster-search.ts';
import type { AutopathOptions } from './options.ts';
import { PublishedLists } from './published-lists.ts';
import { listSearchCandidates } from './search-list.ts';

/** Where search lists come from. */
export interface SearchSource {
  /** The names for which a list may be known, with all names below them. */
  readonly domains: ReadonlySet<NameKey>;
  /** The search list of the client, with the first domain above the name; undefined: unknown, or of no use. */
  listFor(query: Query): readonly NameKey[] | undefined;
  /** The publication where readers find the same lists; undefined: they do not search. */
  readonly lists?: PublicationId | undefined;
}

interface Context extends Pick<PluginContext, 'find' | 'log' | 'lookUp' | 'metrics' | 'zones'> {
  readonly restored: RestoredDeviations;
  readonly pluginNames: readonly string[];
  readonly table: TableWriter;
}

const NO_SOURCE: SearchSource = { domains: new Set(), listFor: () => undefined };
/** Plugins that know the search lists of pods. */
const KNOWING: readonly string[] = ['kubernetes', 'kubernetai', 'erratic'];
/** The list that `erratic` of CoreDNS has, for tests. */
const DOMAINS_OF_ERRATIC = ['a.example.org.', 'b.example.org.'].map(parseKey);
/** The search list of the server. */
const RESOLV_CONF = '/etc/resolv.conf';

export class Autopath implements Plugin {
  readonly #options: AutopathOptions;
  readonly #context: Context;
  readonly #resolvConf: string;
  #source: SearchSource | undefined;
  #clusters: readonly ClusterSearch[] = [];
  #published: PublishedLists | undefined;
  #handler: Handler | undefined;

  /** @param resolvConf the file with the search list of nodes */
  constructor(options: AutopathOptions, context: Context, resolvConf = RESOLV_CONF) {
    this.#options = options;
    this.#context = context;
    this.#resolvConf = resolvConf;
  }

  /** Created when the block is complete: `kubernetes` comes later. */
  get handler(): Handler {
    const acl = this.#context.find(Acl);
    this.#handler ??= createAutopathHandler(this.#sourceOfBlock(), this.#context, acl);
    return this.#handler;
  }

  async start(): Promise<void> {
    const { source } = this.#options;
    const { log, pluginNames } = this.#context;
    this.#sourceOfBlock();
    if (this.#clusters.length === 0) {
      const isUnable = source.kind === 'plugin' && !KNOWING.includes(source.name);
      if (isUnable && pluginNames.includes(source.name))
        throw new Error(`plugin/autopath: ${source.name} does not implement the AutoPather interface`);
      return;
    }
    if (!this.#clusters.every(({ knowsPods }) => knowsPods))
      log.warn('plugin/autopath: kubernetes has no "pods verified", so the search lists of pods are unknown');
    try {
      const words = parseSearchDomains(await readFile(this.#resolvConf, 'utf8'));
      const ownDomains = words.map(parseKey);
      for (const cluster of this.#clusters) cluster.ownDomains = ownDomains;
      this.#published?.start();
    } catch (error) {
      log.warn(
        `plugin/autopath: search list of nodes unknown, so none is completed: ${this.#resolvConf}: ${error}`,
      );
    }
  }

  async stop(): Promise<void> {
    await this.#published?.stop();
  }

  #sourceOfBlock(): SearchSource {
    this.#source ??= this.#findSource();
    return this.#source;
  }

  #findSource(): SearchSource {
    const { source, zones } = this.#options;
    const { restored, pluginNames } = this.#context;
    if (source.kind === 'domains') return makeSearchSource(source.domains, zones);
    if (source.name === 'erratic' && pluginNames.includes('erratic'))
      return makeSearchSource(DOMAINS_OF_ERRATIC, zones);
    const followed = this.#findClusters(source.name);
    // A name that any of them has may be meant as it is.
    const hasService: Kubernetes['hasService'] = (...service) =>
      followed.some((cluster) => cluster.hasService(...service));
    const searchesServices = restored.has('search-of-services');
    const clusters = followed.map(
      ({ serviceZones, searches }) =>
        new ClusterSearch({ serviceZones, searches, hasService }, searchesServices),
    );
    this.#clusters = clusters;
    const [cluster] = clusters;
    if (cluster === undefined) return NO_SOURCE;
    this.#published = this.#publish(cluster, followed);
    const domains = new Set(clusters.flatMap((each) => each.domains));
    return {
      domains: withinZones([...domains], zones),
      lists: this.#published?.publication,
      listFor: (query) => {
        const { key } = query;
        const { address } = query.dependOnClient();
        // A pod of a cluster that is not listed, or not with its pods, could have the address, too.
        return clusters.length === 1
          ? cluster.listFor(key, address)
          : followed.every(({ isKnown, searches }) => isKnown && searches?.isListed === true)
            ? listOfSeveral(clusters, key, address)
            : undefined;
      },
    };
  }

  #findClusters(name: string): readonly Kubernetes[] {
    const { find } = this.#context;
    if (name === 'kubernetai') return find(Kubernetai)?.clusters ?? [];
    return name === 'kubernetes' ? [find(Kubernetes) ?? []].flat() : [];
  }

  /** Undefined: readers do not search. They answer for one cluster with one domain. */
  #publish(cluster: ClusterSearch, [followed, second]: readonly Kubernetes[]): PublishedLists | undefined {
    const { restored, pluginNames, table, log } = this.#context;
    const searches = followed?.searches;
    if (searches === undefined || second !== undefined || !cluster.hasOneDomain) return undefined;
    if (isLeftToChain('searches', restored)) return undefined;
    // Readers know nothing of rules for the names that they find, nor of who sees them.
    if (pluginNames.includes('acl') || followed?.hasTenants === true) return undefined;
    return new PublishedLists({ cluster, searches, table, log });
  }
}

/** The same list for all clients. */
function makeSearchSource(list: readonly NameKey[], zones: readonly NameKey[]): SearchSource {
  const [first] = list;
  if (first === undefined) return NO_SOURCE;
  return { domains: withinZones([first], zones), listFor: () => list };
}

/** The parts of domains that are within zones. */
function withinZones(domains: readonly NameKey[], zones: readonly NameKey[]): ReadonlySet<NameKey> {
  const all = new Set(zones);
  const own = new Set(domains);
  return new Set([
    ...domains.filter((domain) => isWithinAny(domain, all)),
    ...zones.filter((zone) => isWithinAny(zone, own)),
  ]);
}

/** @param acl that of the block: it has seen the name that the client asked for, and not those of the list */
export function createAutopathHandler(
  source: SearchSource,
  { restored, lookUp, metrics, zones }: Pick<Context, 'restored' | 'lookUp' | 'metrics' | 'zones'>,
  acl?: Pick<Acl, 'reject'>,
): Handler {
  const found = new CountFamily(
    metrics,
    'coredns_autopath_success_total',
    'Counter of requests that did autopath.',
    ['server'],
  ).with();
  const ofBlock = new Set(zones);
  const { domains } = source;
  const countsNamesAsTheyAre = restored.has('search-counts');
  const asksElsewhere = !restored.has('search-elsewhere');
  return {
    name: 'autopath',
    role: 'other',
    answers: 'unchanged',
    search: source.lists === undefined ? undefined : { lists: source.lists, found: [found] },
    questions: domains.size === 0 ? NO_QUESTIONS : missingNamesWithin(domains),
    async handle(query, next) {
      const answer = await next(query);
      if (!isWithinAny(query.key, domains) || !isSearched(query)) return answer;
      const isFound = !isMissing(answer);
      if (isFound && !(countsNamesAsTheyAre && isCounted(answer))) return answer;
      const list = source.listFor(query);
      const [, ...candidates] = (list && listSearchCandidates(query.question.name, list)) ?? [];
      const further = asksElsewhere ? orElsewhere(next, ofBlock, lookUp) : next;
      const behind: Next = (each) => acl?.reject(each) ?? further(each);
      const later = isFound ? undefined : await search(query, candidates, behind);
      const isCountedHere = isFound ? candidates.length > 0 : later !== undefined && isCounted(later);
      if (isCountedHere) query.count(found);
      return later ?? answer;
    },
  };
}

function isSearched({ question: { type, class: dnsClass }, look }: Query): boolean {
  if (look?.open !== undefined) return false;
  return dnsClass === CLASS.IN && type !== TYPE.AXFR && type !== TYPE.IXFR;
}

/** Asks the other blocks for a name that is outside the zones of this one and has no handler here, as the client would. */
function orElsewhere(next: Next, zones: ReadonlySet<NameKey>, lookUp: Chain): Next {
  return async (query) => {
    const answer = await next(query);
    const isLost = answer.kind === 'servfail' && query.answeredBy === '' && !isWithinAny(query.key, zones);
    return isLost ? await lookUp(query) : answer;
  };
}

/** Undefined: all candidates are missing. */
async function search(
  query: Query,
  candidates: readonly string[],
  behind: Next,
): Promise<Answer | undefined> {
  for (const candidate of candidates) {
    const name = tryParseName(candidate);
    if (name === undefined) continue;
    const answer = await behind(query.about({ ...query.question, name }));
    // A client stops at a failure too. Without the answer of a server, a look ends here.
    if (!isMissing(answer) || query.look?.open !== undefined) return withAlias(answer, query, name);
  }
  return undefined;
}

function isMissing(answer: Answer): boolean {
  // A plugin has no such name, and no other one says that it does not exist: `hosts`. CoreDNS goes on there, too.
  if (answer.kind === 'servfail') return answer.reason === undefined && answer.extendedError === undefined;
  if (answer.kind === 'drop' || !isResponse(answer)) return false;
  return toWholeAnswer(answer).rcode === RCODE.NXDOMAIN;
}

function isCounted(answer: Answer): boolean {
  return answer.kind !== 'drop' && isResponse(answer);
}

/** Puts an alias from the name that the client asked for in front of the records of another name. */
function withAlias(answer: Answer, { question }: Query, found: AbsoluteName): Answer {
  if (answer.kind === 'drop' || !isResponse(answer)) return answer;
  const whole = toWholeAnswer(answer);
  const [first] = whole.answers;
  if (first === undefined) return whole;
  const data = { kind: 'CNAME', target: found } as const;
  const alias: ResourceRecord = { name: question.name, class: CLASS.IN, ttl: first.ttl, data };
  return { ...whole, answers: [alias, ...whole.answers] };
}
