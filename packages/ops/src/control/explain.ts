/**
 * Explains a name: follows the chain that serves, for each name of the search list, and finds the reason where there is no answer.
 */
import { isIP } from 'node:net';
import { reverseName } from '@portolan/dns/address.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseType, rcodeName } from '@portolan/dns/mnemonics.ts';
import { isWithin, labelsBelow, parseKey, parseName } from '@portolan/dns/name.ts';
import { presentData } from '@portolan/dns/record-data.ts';
import { CLASS, type Message, type NameKey, OPCODE, RCODE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { DryRun } from '@portolan/kernel/chain/dry-run.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import type { Engine } from '@portolan/kernel/engine/engine.ts';
import type { GroupPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import {
  clustersIn,
  type InspectedCluster,
} from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import { forwardersIn } from '@portolan/plugins/forward/inspected-forwarders.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import type { ClusterEvidence, ClusterZoneEvidence } from '@portolan/server/reasons/cluster-evidence.ts';
import { findClusterReason } from '@portolan/server/reasons/cluster-reason.ts';
import {
  type AnsweredStep,
  compareLibraries,
  conclude,
  listWalkRemedies,
  type Walk,
} from '@portolan/server/reasons/conclude.ts';
import { describeReason } from '@portolan/server/reasons/describe-reason.ts';
import {
  EXPLANATION_VERSION,
  type ExplainedClient,
  type ExplainedUpstream,
  type Explanation,
  type Verdict,
} from '@portolan/server/reasons/explanation.ts';
import type { Reason } from '@portolan/server/reasons/reason.ts';
import {
  listCandidates,
  makeClusterFirstSearchList,
  RESOLVER_LIBRARIES,
  type StepOutcome,
} from '@portolan/server/reasons/search-walk.ts';
import { type AskedServers, type ClientPod, findPod } from './client-pod.ts';
import { joinEvidence, RawEvidence } from './raw-evidence.ts';
import { RecordEvidence } from './record-evidence.ts';
import { findServedDomain } from './served-domain.ts';
import type { ExplainOrder } from './settings/control-order.ts';

/** The server that is asked. */
export interface ExplainedServer {
  readonly engine: Pick<Engine, 'serverBlocks'>;
  readonly plan: ServerPlan;
  /** What the server waits for before it may deny names of the cluster; undefined: nothing. */
  readonly missing: () => readonly string[] | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** What names of services look like in any cluster; behind `svc` is its domain. */
const SERVICE_NAME = /^[^.]+\.[^.]+\.svc\.(.+\.)$/;

/** The kinds of servers' states in which no answer is expected. */
const SILENT_STATES: readonly string[] = ['down', 'silent'];
const DEFAULT_NDOTS = 5;
const DEFAULT_NAMESPACE = 'default';
/** The most names of a search list. */
const MAX_CANDIDATES = 33;

interface AnswerSettings {
  readonly asks: boolean;
  /** Objects that the caller has read. */
  readonly further?: RawEvidence | undefined;
  readonly seen?: Pick<AnsweredStep, 'rcode' | 'outcome'> | undefined;
  readonly look?: DryRun | undefined;
}

/** What tells the reason for an answer. */
interface StepEvidence {
  readonly key: NameKey;
  readonly further: RawEvidence | undefined;
  /** The answer; undefined: there is none. */
  readonly message: Message | undefined;
  readonly look: DryRun;
  /** The client. */
  readonly address: string;
}

export class Explainer {
  readonly #server: ExplainedServer;
  readonly #evidence = new WeakMap<InspectedCluster['cluster'], RecordEvidence>();

  constructor(server: ExplainedServer) {
    this.#server = server;
  }

  /** @param objects of Kubernetes that the caller has read @throws NameError */
  async explain(order: ExplainOrder, objects: readonly unknown[] = []): Promise<Explanation> {
    const address = isIP(order.name) === 0 ? undefined : order.name;
    const name = address === undefined ? order.name : reverseName(address);
    const pod = findPod(order, objects);
    const client = this.#explainClient(order, pod);
    const settings = address === undefined ? client : { search: [], ndots: 0 };
    const types = address === undefined ? order.types : ['PTR'];
    const further = objects.length === 0 ? undefined : new RawEvidence(objects);
    const names = new Set(RESOLVER_LIBRARIES.flatMap((library) => listCandidates(name, settings, library)));
    const answers: AnsweredStep[] = [];
    for (const candidate of [...names].slice(0, MAX_CANDIDATES))
      for (const type of types)
        answers.push(await this.#answer(candidate, type, client, { asks: order.asks, further }));
    const concluded = conclude(name, settings, answers, order.resolver);
    const walk = { ...concluded, verdict: this.#noteUnready(concluded) };
    const elsewhere = pod?.asks.kind === 'node' && order.search === undefined ? pod.asks : undefined;
    return {
      apiVersion: EXPLANATION_VERSION,
      kind: 'Explanation',
      at: new Date(this.#server.clock.now()).toISOString(),
      question: { name: order.name, types, resolver: order.resolver },
      client,
      verdict: elsewhere === undefined ? walk.verdict : judgeElsewhere(elsewhere),
      steps: walk.steps,
      otherResolvers: compareLibraries(name, settings, answers, order.resolver),
      upstreams: this.#listUpstreams(walk.steps.filter(({ isReached }) => isReached)),
      remedies: elsewhere === undefined ? listWalkRemedies(name, walk) : [{ sentence: elsewhere.remedy }],
      notChecked: [...notChecked(answers, further), ...notCheckedOfClient(order, pod)],
    };
  }

  /**
   * Answers one question without asking upstream.
   *
   * @param seen the answer that a client got, if upstream servers would have to be asked now
   * @param look notes the way of the query
   * @throws NameError
   */
  lookUp(
    name: string,
    type: string,
    address: string | undefined,
    seen?: Pick<AnsweredStep, 'rcode' | 'outcome'>,
    look?: DryRun,
  ): Promise<AnsweredStep> {
    const client = { address, namespace: DEFAULT_NAMESPACE, search: [], ndots: 0, source: 'given' } as const;
    return this.#answer(parseName(name), type, client, { asks: false, seen, look });
  }

  /** Adds to the verdict that nothing is ready behind the cluster IP that a name leads to. */
  #noteUnready({ steps, verdict }: Walk): Verdict {
    const last = steps.findLast(({ isReached, outcome }) => isReached && outcome === 'answer');
    if (last?.source !== 'cluster' || verdict.reason !== undefined) return verdict;
    const key = parseKey(last.name);
    const found = this.#findCluster(key);
    const [domain] = found?.cluster.names.apexes ?? [];
    if (found === undefined || domain === undefined) return verdict;
    if (!found.cluster.neededKinds.includes('Endpoints')) return verdict;
    const [service, namespace, kind, ...rest] = labelsBelow(key, domain);
    if (service === undefined || namespace === undefined || kind !== 'svc' || rest.length > 0) return verdict;
    const behind = this.#getOrCreateEvidence(found.cluster).findService(namespace, service);
    if (behind?.address.kind !== 'clusterIPs' || behind.endpoints.ready.length > 0) return verdict;
    const sentence = `${verdict.sentence}, but no endpoint of service ${namespace}/${service} is ready behind it`;
    return { ...verdict, sentence };
  }

  /** What the server keeps of its first cluster. */
  get evidence(): ClusterEvidence | undefined {
    const [first] = this.#clusters();
    return first && this.#getOrCreateEvidence(first.cluster);
  }

  /** The apex of the cluster's zone. */
  get domain(): string {
    return findServedDomain(this.#server);
  }

  #explainClient(order: ExplainOrder, pod: ClientPod | undefined): ExplainedClient {
    const namespace = order.namespace ?? pod?.namespace ?? DEFAULT_NAMESPACE;
    const isKnown = order.namespace !== undefined || pod !== undefined;
    const ofCluster = makeClusterFirstSearchList(namespace, this.domain);
    const ofPod = pod?.asks.kind === 'own' ? pod.search : [...ofCluster, ...(pod?.search ?? [])];
    return {
      address: order.from ?? pod?.address,
      namespace,
      search: order.search ?? ofPod,
      ndots: order.ndots ?? pod?.ndots ?? DEFAULT_NDOTS,
      source: order.search !== undefined ? 'given' : isKnown ? 'pod' : 'assumed',
    };
  }

  async #answer(
    name: string,
    type: string,
    client: ExplainedClient,
    { asks, further, seen, look = new DryRun() }: AnswerSettings,
  ): Promise<AnsweredStep> {
    const key = parseKey(name);
    const { address } = clientFrom(client);
    const message = await this.#send(key, type, { ...clientFrom(client), look });
    const { open, entry } = look;
    if (open !== undefined && entry === undefined) {
      if (open.servers.length === 0)
        return this.#withReason(
          toAnsweredStep(name, type, look, undefined),
          toForwardingReason(open.problem),
        );
      const { servers } = open;
      if (seen !== undefined) {
        const step = {
          ...toAnsweredStep(name, type, look, undefined),
          ...seen,
          source: 'upstream',
          servers,
        } as const;
        return this.#explained(step, { key, further, message: undefined, look, address });
      }
      if (!asks) return this.#notAsked(toAnsweredStep(name, type, look, undefined), open.servers);
      const reply = await this.#send(key, type, clientFrom(client));
      const asked = { ...toAnsweredStep(name, type, look, reply), source: 'upstream', servers } as const;
      return this.#explained(asked, { key, further, message: reply, look, address });
    }
    const answered = toAnsweredStep(name, type, look, message);
    return this.#explained(answered, { key, further, message, look, address });
  }

  /** A name that no server can answer now fails; any other is not known. */
  #notAsked(step: AnsweredStep, servers: readonly string[]): AnsweredStep {
    const silent = this.#statistics().filter(
      ({ upstream, state }) => servers.includes(upstream) && SILENT_STATES.includes(state.kind),
    );
    const found = { ...step, source: 'not-asked', servers } as const;
    if (silent.length < servers.length) return { ...found, outcome: 'unknown', rcode: undefined };
    const failing = { ...found, outcome: 'servfail', rcode: 'SERVFAIL' } as const;
    return this.#withReason(failing, { kind: 'upstream-unreachable', servers });
  }

  #explained(step: AnsweredStep, evidence: StepEvidence): AnsweredStep {
    if (step.outcome === 'answer') return step;
    return this.#withReason(step, this.#findReason(step, evidence));
  }

  #withReason(step: AnsweredStep, reason: Reason | undefined): AnsweredStep {
    if (reason === undefined) return step;
    const near = 'near' in reason && reason.near.length > 0 ? { near: reason.near } : {};
    const outcome = step.outcome === 'unknown' ? 'servfail' : step.outcome;
    return { ...step, outcome, reason, sentence: describeReason(reason), ...near };
  }

  #findReason(step: AnsweredStep, evidence: StepEvidence): Reason | undefined {
    const { key, further, message, look } = evidence;
    const last = look.steps.at(-1);
    const { source, plugin, rcode = '', zone, age, left } = step;
    const cluster = this.#findCluster(key);
    const foreign = this.#findForeignDomain(key);
    if (foreign !== undefined && source !== 'local')
      return { kind: 'foreign-cluster-domain', domain: foreign, served: this.domain };
    const isAlias = message?.answers.some(({ data }) => data.kind === 'CNAME') === true;
    if (cluster !== undefined && (source === 'cluster' || isAlias || plugin === undefined))
      return this.#clusterReason(cluster, step, evidence);
    if (cluster === undefined && further !== undefined && rcode !== 'SERVFAIL' && this.#isOfCluster(key))
      return findClusterReason({
        labels: labelsBelow(key, this.domain as NameKey),
        type: step.type,
        isNoData: step.outcome === 'nodata',
        zone: { ...ANY_ZONE, domain: this.domain },
        evidence: further,
      });
    if (source === 'upstream' || source === 'cache' || source === 'stale')
      return this.#upstreamReason(step, { rcode: step.outcome === 'nodata' ? 'NODATA' : rcode, age, left });
    if (last?.explainedBy === 'loop' && rcode === 'SERVFAIL')
      return { kind: 'forwarding-loop', servers: [`those that zone "${zone}" is forwarded to`] };
    if (zone === undefined) return { kind: 'not-forwarded', detail: 'no server block has a zone for it' };
    if (rcode === 'REFUSED')
      return plugin === undefined || last?.isForwarder === true
        ? { kind: 'not-forwarded', detail: 'no plugin of its server block answers it' }
        : { kind: 'blocked', plugin };
    return plugin === undefined ? undefined : this.#deniedBy(plugin);
  }

  #deniedBy(plugin: string): Reason {
    const inspections = this.#server.engine.serverBlocks.inspect();
    const detail = inspections.find(({ denial }) => denial?.plugin === plugin)?.denial?.reason;
    return { kind: 'denied-locally', plugin, ...(detail !== undefined && { detail }) };
  }

  #upstreamReason(
    { source, servers = [] }: AnsweredStep,
    { rcode, age, left }: Omit<Extract<Reason, { kind: 'upstream-said' }>, 'kind'>,
  ): Reason {
    const all = this.#statistics().filter(({ upstream }) => servers.includes(upstream));
    if (source === 'upstream' && rcode === 'SERVFAIL' && all.length > 0) {
      const silent = all.filter(
        ({ state }) => SILENT_STATES.includes(state.kind) || state.kind === 'failing',
      );
      if (silent.length === all.length)
        return { kind: 'upstream-unreachable', servers: silent.map(({ upstream }) => upstream) };
    }
    return { kind: 'upstream-said', rcode, age, left };
  }

  #clusterReason(
    { cluster, status, rules }: InspectedCluster,
    { type, outcome }: Pick<AnsweredStep, 'type' | 'outcome'>,
    { key, further, address }: Pick<StepEvidence, 'key' | 'further' | 'address'>,
  ): Reason {
    const [domain = key] = cluster.names.apexes;
    const labels = labelsBelow(key, domain);
    const missing = cluster.isKnown ? undefined : (status?.reasons ?? this.#server.missing() ?? []);
    const { pods, namespaces, ignoresEmptyServices } = rules;
    const zone: ClusterZoneEvidence = {
      domain,
      missing,
      pods,
      isExcluded: (namespace) => namespaces.length > 0 && !namespaces.includes(namespace),
      findHiding: (namespace, service) => cluster.tenants?.findHiding(address, namespace, service),
      ignoresEmptyServices,
      hasHttpsRecords: cluster.hasHttpsRecords,
    };
    const kept = this.#getOrCreateEvidence(cluster);
    const evidence = further === undefined ? kept : joinEvidence(kept, further);
    return findClusterReason({ labels, type, isNoData: outcome === 'nodata', zone, evidence });
  }

  #getOrCreateEvidence(cluster: InspectedCluster['cluster']): RecordEvidence {
    const found = this.#evidence.get(cluster) ?? new RecordEvidence(cluster);
    this.#evidence.set(cluster, found);
    return found;
  }

  /** The cluster that a name belongs to; names of reverse zones belong to none. */
  #findCluster(key: NameKey): InspectedCluster | undefined {
    return this.#clusters().find(({ cluster }) => {
      const [domain] = cluster.names.apexes;
      return domain !== undefined && isWithin(key, domain);
    });
  }

  #isOfCluster(key: NameKey): boolean {
    return isWithin(key, this.domain as NameKey);
  }

  /** The domain of the other cluster that a name belongs to; undefined if the name has another form. */
  #findForeignDomain(key: NameKey): string | undefined {
    if (this.#isOfCluster(key) || this.#findCluster(key) !== undefined) return undefined;
    return SERVICE_NAME.exec(key)?.[1];
  }

  #clusters(): readonly InspectedCluster[] {
    return clustersIn(this.#server.engine.serverBlocks.inspect());
  }

  #statistics() {
    const inspections = this.#server.engine.serverBlocks.inspect();
    const forwarders = forwardersIn(inspections);
    return forwarders.flatMap((forwarder) => forwarder.statistics().upstreams);
  }

  #listUpstreams(steps: readonly AnsweredStep[]): readonly ExplainedUpstream[] {
    const asked = new Set(steps.flatMap(({ servers = [] }) => servers));
    return this.#statistics()
      .filter(({ upstream }) => asked.has(upstream))
      .map(({ upstream: server, state, stateAge, lastReplyAge }) => ({
        server,
        stateAge,
        lastReplyAge,
        state: state.kind,
      }));
  }

  async #send(key: NameKey, type: string, client: Client): Promise<Message | undefined> {
    const group = closestGroup(this.#server.plan.engine.groups, key);
    const answer = this.#server.engine.serverBlocks.findQueryHandler(group?.server ?? '');
    const response = await answer?.(writeQuery(key, type), client);
    return response && decodeMessage(response);
  }
}

/** The settings of a cluster that another server serves. */
const ANY_ZONE: Omit<ClusterZoneEvidence, 'domain'> = {
  missing: undefined,
  pods: 'insecure',
  isExcluded: () => false,
  ignoresEmptyServices: false,
};

/** The group with the longest zone that a name is in. */
export function closestGroup(groups: readonly GroupPlan[], key: NameKey): GroupPlan | undefined {
  const computeMatchLength = (zone: NameKey) => (isWithin(key, zone) ? zone.length : -1);
  const longest = ({ sites }: GroupPlan) => Math.max(...sites.map(({ zone }) => computeMatchLength(zone)));
  return [...groups].sort((one, other) => longest(other) - longest(one))[0];
}

function clientFrom({ address = '127.0.0.1' }: Pick<ExplainedClient, 'address'>): Client {
  // Over TCP, so that the answer is whole.
  return { address, port: 0, transport: 'tcp' };
}

function writeQuery(name: NameKey, type: string): Uint8Array {
  const header = {
    id: 0,
    response: false,
    opcode: OPCODE.QUERY,
    rcode: RCODE.NOERROR,
    authoritative: false,
    truncated: false,
    recursionDesired: true,
    recursionAvailable: false,
    authenticData: false,
    checkingDisabled: false,
  };
  const question = { name, type: parseType(type) ?? 0, class: CLASS.IN };
  const none = { answers: [], authorities: [], additionals: [] };
  return encodeMessage({ header, questions: [question], ...none, edns: undefined });
}

function toAnsweredStep(
  name: string,
  type: string,
  look: DryRun,
  message: Message | undefined,
): AnsweredStep {
  const plugin = look.steps.at(-1)?.handler;
  const records = (message?.answers ?? []).map(({ data }) => `${data.kind} ${presentData(data)}`);
  const addresses = (message?.answers ?? []).flatMap(({ data }) =>
    data.kind === 'A' || data.kind === 'AAAA' ? presentData(data) : [],
  );
  const { entry, zone } = look;
  return {
    name,
    type,
    zone,
    plugin,
    records,
    addresses,
    rcode: message === undefined ? undefined : rcodeName(message.header.rcode),
    outcome: message === undefined ? 'unknown' : toStepOutcome(message, type),
    source: toStepSource(look),
    ...(entry && { age: entry.age, left: entry.left }),
  };
}

function toStepSource({ steps, entry, zone }: DryRun): AnsweredStep['source'] {
  if (entry !== undefined) return entry.left > 0 ? 'cache' : 'stale';
  if (zone === undefined) return 'nothing';
  const last = steps.at(-1);
  if (last?.explainedBy === 'cluster') return 'cluster';
  return last === undefined ? 'nothing' : 'local';
}

function toStepOutcome({ header, answers }: Message, type: string): StepOutcome {
  if (header.rcode === RCODE.NXDOMAIN) return 'nxdomain';
  if (header.rcode === RCODE.REFUSED) return 'refused';
  if (header.rcode !== RCODE.NOERROR) return 'servfail';
  return answers.some(({ data }) => data.kind === type || type === 'ANY') ? 'answer' : 'nodata';
}

function toForwardingReason(problem: string | undefined): Reason {
  return problem?.includes(':') === true
    ? { kind: 'forwarding-loop', servers: problem.split(', ') }
    : { kind: 'not-forwarded', detail: problem ?? 'no server is configured for it' };
}

/** The servers of the node are not known here. */
function judgeElsewhere({ because }: Extract<AskedServers, { kind: 'node' }>): Verdict {
  const sentence = `not asked of this server: the pod asks the servers of its node, since ${because}. Asked here, the walk would be this`;
  return { outcome: 'unknown', sentence, addresses: [] };
}

function notCheckedOfClient(order: ExplainOrder, pod: ClientPod | undefined): readonly string[] {
  if (pod === undefined && (order.pod ?? order.from) !== undefined) return [describeUnknownClient(order)];
  if (pod?.asks.kind !== 'own') return [];
  const servers = pod.asks.nameservers.join(', ');
  return [`servers of the pod: it asks ${servers || 'none'} (dnsConfig), whether or not that is this server`];
}

function describeUnknownClient({ from, namespace = DEFAULT_NAMESPACE, pod }: ExplainOrder): string {
  const client = pod === undefined ? `the pod at ${from}` : `pod ${namespace}/${pod}`;
  return `${client}: not known here, taken for any pod of namespace ${namespace}. Pass it by --evidence`;
}

function notChecked(answers: readonly AnsweredStep[], further: RawEvidence | undefined): readonly string[] {
  const kinds = new Set(answers.map(({ reason }) => reason?.kind));
  const needsObjects = kinds.has('no-endpoints') || kinds.has('no-such-endpoint');
  if (!needsObjects || further?.hasPods === true) return [];
  return [
    further === undefined
      ? 'selectors: this server keeps none. Give them with --evidence'
      : 'selectors: the evidence has no pods',
  ];
}
