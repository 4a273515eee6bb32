/**
 * What a server finds about itself: for its metrics, its readiness, its log and `doctor`.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import { clustersIn } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { forwardersIn } from '@portolan/plugins/forward/inspected-forwarders.ts';
import { SERVER_CHECKS } from './reasons/checks/server-checks.ts';
import { type Finding, runChecks, type ServerEvidence, toUpstreamEvidence } from './reasons/finding.ts';
import type { WrongClusterDomains } from './wrong-cluster-domain.ts';

/** Facts about the server at one moment. */
export interface ServerFacts {
  readonly inspections: readonly PluginInspection[];
  readonly dataAge: number | undefined;
  readonly kinds: ServerEvidence['kinds'];
  readonly losses: ServerEvidence['losses'];
  readonly rejected: readonly string[];
  readonly missingRules: ServerEvidence['missingRules'];
  readonly foreignDomains: WrongClusterDomains;
}

/** What checks read of a cluster, as of one generation. */
interface NamesOfCluster
  extends Pick<ServerEvidence, 'externalNames' | 'fqdnEndpoints' | 'unreversedServices'> {
  readonly generation: number;
}

/** Milliseconds between two checks for the log. */
const INTERVAL = 15_000;
/** Of one check, findings that get a line when they begin; the others follow at the next one. */
const MAX_LINES = 20;

export class ServerFindings {
  readonly #readFacts: () => ServerFacts;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #names = new WeakMap<Cluster, NamesOfCluster>();
  readonly #logged = new Map<string, Finding>();
  readonly #followers: ((findings: readonly Finding[]) => void)[] = [];
  #timer: Timer | undefined;

  /** @param readFacts is called once for all checks of a moment */
  constructor(readFacts: () => ServerFacts, clock: Clock, log: Log) {
    this.#readFacts = readFacts;
    this.#clock = clock;
    this.#log = log;
  }

  /** Logs findings when they begin and end, from now on. */
  start(): void {
    this.#timer = this.#clock.after(INTERVAL, () => {
      this.#report();
      this.start();
    });
  }

  /** Calls back with all current findings at each check. @returns a function that ends it */
  follow(follow: (findings: readonly Finding[]) => void): () => void {
    this.#followers.push(follow);
    return () => void this.#followers.splice(this.#followers.indexOf(follow), 1);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  current(): readonly Finding[] {
    const none = { services: undefined, pods: undefined, policies: undefined, traffic: undefined };
    return runChecks(SERVER_CHECKS, { server: this.evidence(), ...none }).findings;
  }

  evidence(): ServerEvidence {
    const { inspections, foreignDomains, ...facts } = this.#readFacts();
    const forwarders = forwardersIn(inspections);
    const inspected = clustersIn(inspections).map(({ cluster }) => cluster);
    const clusters = inspected.map((cluster) => this.#listNames(cluster));
    const domains = inspected.flatMap(({ names }) => names.apexes.slice(0, 1));
    return {
      ...facts,
      domains,
      foreignDomains: foreignDomains.besides(domains),
      upstreams: forwarders.flatMap((forwarder) => forwarder.statistics().upstreams).map(toUpstreamEvidence),
      forwardedDomains: forwarders.flatMap((forwarder) =>
        forwarder.domains.map((domain) => ({ domain, servers: listServers(forwarder, domain) })),
      ),
      loopingZones: inspections.flatMap(({ loopingZone = [] }) => loopingZone),
      externalNames: clusters.flatMap(({ externalNames }) => externalNames),
      fqdnEndpoints: clusters.flatMap(({ fqdnEndpoints }) => fqdnEndpoints),
      unreversedServices: clusters.flatMap(({ unreversedServices }) => unreversedServices),
    };
  }

  #listNames(cluster: Cluster): NamesOfCluster {
    const known = this.#names.get(cluster);
    const { generation, contents } = cluster;
    if (known?.generation === generation) return known;
    const [domain = '', ...reverseZones] = cluster.names.apexes;
    const externalNames = Array.from(contents.externalNames(), (service) => ({ ...service, domain }));
    const unreversed = Array.from(contents.outsideOf(reverseZones), (service) => ({ ...service, domain }));
    const fqdnEndpoints = [...contents.fqdnEndpoints()];
    const names = { generation, externalNames, fqdnEndpoints, unreversedServices: unreversed };
    this.#names.set(cluster, names);
    return names;
  }

  #report(): void {
    const current = this.current();
    for (const follow of [...this.#followers]) follow(current);
    const now = new Map(current.map((finding) => [`${finding.kind} ${finding.subject}`, finding]));
    for (const [key, { kind, subject }] of this.#logged) {
      if (now.has(key)) continue;
      this.#logged.delete(key);
      this.#log.info('finding ended', { finding: kind, subject });
    }
    const begun = [...now].filter(([key]) => !this.#logged.has(key));
    for (const [key, finding] of begun.slice(0, MAX_LINES)) {
      this.#logged.set(key, finding);
      const { kind, subject, sentence } = finding;
      this.#log.warn('finding', { finding: kind, subject, reason: sentence });
    }
  }
}

/** The servers that names of a domain are asked of. */
function listServers(forwarder: Forwarder, domain: NameKey): readonly string[] {
  const found = forwarder.serversFor(domain);
  return found.kind === 'servers' ? found.upstreams.map(({ upstream }) => upstream) : [];
}
