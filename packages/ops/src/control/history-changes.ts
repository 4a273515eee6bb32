/**
 * Feeds a history with what changes: services and their endpoints as they do, all else by a look from time to time.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { clustersIn } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import type { ServiceFollower } from '@portolan/kubernetes/publish/service-log.ts';
import type { FollowedKind } from '@portolan/server/followed-kinds.ts';
import type { History } from '@portolan/server/history/history.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import type { Server } from '@portolan/server/server.ts';
import { readUpstreams, type UpstreamStatus } from './status.ts';

/** The history that keeps records now: another configuration may have another one. */
export interface KeptIn {
  readonly history: History;
}

export interface HistoryChangesOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds between two looks, and between a change of endpoints and its record: several are one. */
const INTERVAL = 5_000;
const SETTLES = 1_000;
/** Milliseconds in which a server becomes ready: until then, that it is not is no change. */
const STARTS = 15_000;
/** Services whose endpoints change within this time, and changes of a configuration that are named. */
const MAX_SERVICES = 1_000;
const MAX_PLAN_CHANGES = 3;
const MAX_PLAN_TEXT = 120;
/** States of upstream servers in which they answer. `untried`: as far as is known. */
const GOOD_STATES: readonly string[] = ['well', 'untried'];
/** States in which no reply comes. */
const UNHEARD: readonly string[] = ['silent', 'down'];
/** States of kinds of objects that are not followed. */
const TROUBLED: readonly string[] = ['waiting', 'silent'];

interface ReadyChange {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly name: string;
  readonly before: number;
  now: number;
}

export class HistoryChanges {
  readonly #kept: KeptIn;
  readonly #options: HistoryChangesOptions;
  readonly #clusters = new Set<Cluster>();
  readonly #ready = new Map<string, ReadyChange>();
  readonly #upstreams = new Map<string, string>();
  readonly #unused = new Set<string>();
  readonly #kinds = new Map<string, Pick<FollowedKind, 'state' | 'lists' | 'words'>>();
  readonly #findings = new Map<string, Finding>();
  #readiness = 'the server is ready';
  #startedAt = 0;
  #endFindings: () => void = () => {};
  #timer: Timer | undefined;
  #readyTimer: Timer | undefined;

  constructor(kept: KeptIn, options: HistoryChangesOptions) {
    this.#kept = kept;
    this.#options = options;
  }

  start(): void {
    this.#startedAt = this.#options.clock.now();
    this.#endFindings = this.#options.server.findings.follow((current) => {
      // What findings are about has its records, too.
      this.#lookAtStates();
      this.#takeFindings(current);
    });
    this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#readyTimer?.cancel();
    this.#endFindings();
    this.#noteReady();
    // The next process knows nothing of them, and notes again what is still so.
    for (const [server, state] of this.#upstreams) this.#forget(server, state);
    for (const { log } of this.#clusters) log.follow(undefined);
  }

  serverStarted(): void {
    const { version } = this.#options.server;
    this.#noteServer('either', `the server started: version ${version}`);
  }

  serverStops(): void {
    this.#noteServer('bad', 'the server stops');
  }

  planChanged(former: ServerPlan, plan: ServerPlan): void {
    const at = this.#options.clock.now();
    void this.#listPlanChanges(former, plan).then((changes) => {
      const more = changes.length - MAX_PLAN_CHANGES;
      const named = changes.slice(0, MAX_PLAN_CHANGES).join('; ');
      const rest = more > 0 ? `; and ${more} more` : '';
      this.#kept.history.addChange({
        at,
        change: 'configuration',
        effect: 'either',
        sentence: `another configuration is in force${named === '' ? '' : `: ${named}`}${rest}`,
        about: ['configuration'],
      });
    });
  }

  async #listPlanChanges(former: ServerPlan, plan: ServerPlan): Promise<readonly string[]> {
    try {
      const { changesBetween } = await import('../diff/plan-changes.ts');
      return changesBetween(former, plan).map(({ where, what }) => toLine(`${where}: ${what}`));
    } catch (error) {
      this.#options.log.error('another configuration is noted without its changes', {
        reason: String(error),
        hint: 'Install the program again.',
      });
      return [];
    }
  }

  /** A state that changed is noted with the time of its change. */
  lookAtUpstreams(): void {
    const now = this.#options.clock.now();
    for (const { server, state, since = 0 } of this.#readUpstreams().values()) {
      const former = this.#upstreams.get(server);
      if (former === state) continue;
      this.#upstreams.set(server, state);
      const isGood = GOOD_STATES.includes(state);
      if (former === undefined ? isGood : isGood && GOOD_STATES.includes(former)) continue;
      const effect = isGood ? 'good' : 'bad';
      // Only a reply leads from one to the other.
      if (state === 'failing' && UNHEARD.includes(former ?? ''))
        this.#noteUpstream(server, 'good', describeState('well', former), now - since);
      this.#noteUpstream(server, effect, describeState(state, former), now - since);
    }
  }

  /** One that several forwarders ask has the state that is worse. */
  #readUpstreams(): ReadonlyMap<string, UpstreamStatus> {
    const upstreams = new Map<string, UpstreamStatus>();
    for (const upstream of readUpstreams(this.#options.server)) {
      const known = upstreams.get(upstream.server);
      if (known === undefined || GOOD_STATES.includes(known.state)) upstreams.set(upstream.server, upstream);
    }
    return upstreams;
  }

  #look(): void {
    this.#followClusters();
    this.#lookAtStates();
    this.#noteUnused();
    this.#timer = this.#options.clock.after(INTERVAL, () => this.#look());
  }

  #lookAtStates(): void {
    this.lookAtUpstreams();
    for (const kind of this.#options.server.kinds) this.#takeKind(kind);
    this.#lookAtReadiness();
  }

  /** Servers go with a configuration, whose record comes first: it is known a moment later. */
  #noteUnused(): void {
    const used = this.#readUpstreams();
    for (const [server, state] of this.#upstreams) {
      if (used.has(server)) this.#unused.delete(server);
      else if (!this.#unused.has(server)) this.#unused.add(server);
      else {
        this.#unused.delete(server);
        this.#forget(server, state);
      }
    }
  }

  #forget(server: string, state: string): void {
    this.#upstreams.delete(server);
    if (!GOOD_STATES.includes(state)) this.#noteUpstream(server, 'good', 'is not used any more');
  }

  #noteUpstream(server: string, effect: 'bad' | 'good', what: string, at = this.#options.clock.now()): void {
    const sentence = `upstream server ${server} ${what}`;
    this.#kept.history.addChange({ at, change: 'upstream', effect, sentence, about: [`upstream ${server}`] });
  }

  /** Clusters come and go with configurations. */
  #followClusters(): void {
    const found = clustersIn(this.#options.server.engine.serverBlocks.inspect());
    const clusters = new Set(found.map(({ cluster }) => cluster));
    for (const cluster of this.#clusters) if (!clusters.has(cluster)) this.#clusters.delete(cluster);
    for (const cluster of clusters) {
      if (this.#clusters.has(cluster)) continue;
      this.#clusters.add(cluster);
      cluster.log.follow(this.#makeFollower(cluster));
      if (!cluster.hasBeenKnown) cluster.whenKnown(() => this.#noteListed(cluster));
    }
  }

  #noteListed({ names }: Cluster): void {
    const sentence = `the names of ${names.apexes[0] ?? 'the cluster'} are known`;
    this.#kept.history.addChange({ change: 'objects', effect: 'good', sentence, about: ['objects'] });
  }

  #makeFollower(cluster: Cluster): ServiceFollower {
    return {
      serviceChanged: (namespace, name, change) =>
        this.#kept.history.addChange({
          change: 'service',
          effect: change === 'went' ? 'bad' : change === 'came' ? 'good' : 'either',
          sentence: `service ${namespace}/${name} ${WORDS[change]}`,
          about: [`service ${namespace}/${name}`],
        }),
      readyChanged: (namespace, name, before, now) => {
        const key = `${namespace}/${name}`;
        const known = this.#ready.get(key);
        if (known !== undefined) known.now = now;
        else if (this.#ready.size < MAX_SERVICES)
          this.#ready.set(key, { cluster, namespace, name, before, now });
        this.#readyTimer ??= this.#options.clock.after(SETTLES, () => this.#noteReady());
      },
    };
  }

  #noteReady(): void {
    this.#readyTimer = undefined;
    const changes = [...this.#ready.values()].filter(({ before, now }) => before !== now);
    this.#ready.clear();
    // The names that end altogether come first, should there be too many.
    changes.sort((one, other) => Number(one.now > 0) - Number(other.now > 0));
    for (const { cluster, namespace, name, before, now } of changes) {
      const { notReady, terminating } = cluster.contents.endpoints(namespace, name);
      const others = notReady.length + terminating.length;
      this.#kept.history.addChange({
        change: 'endpoints',
        effect: now < before ? 'bad' : 'good',
        sentence: `service ${namespace}/${name} has ${now} ready endpoints, ${before} before${others === 0 ? '' : `; ${others} are not ready`}`,
        about: [`service ${namespace}/${name}`],
      });
    }
  }

  #takeKind({ kind, state, lists, words }: FollowedKind): void {
    const former = this.#kinds.get(kind);
    const isTroubled = TROUBLED.includes(state);
    const wasTroubled = TROUBLED.includes(former?.state ?? '');
    // Names are known a moment after their objects are followed, and clients see failures until then.
    if (wasTroubled && !isTroubled && [...this.#clusters].some((cluster) => !cluster.hasBeenKnown)) return;
    this.#kinds.set(kind, { state, lists, words });
    if (former === undefined) return;
    const note = (effect: 'bad' | 'good' | 'none', sentence: string) =>
      this.#kept.history.addChange({ change: 'objects', effect, sentence, about: ['objects'] });
    if (isTroubled && !wasTroubled) note('bad', `${kind} are not followed: ${words ?? state}`);
    if (!isTroubled && wasTroubled) note('good', `${kind} are followed again`);
    if (lists > former.lists && former.lists > 0) note('none', `${kind} were listed again`);
  }

  #takeFindings(current: readonly Finding[]): void {
    const now = new Map(current.map((finding) => [`${finding.kind} ${finding.subject}`, finding]));
    for (const [key, finding] of now)
      if (!this.#findings.has(key))
        this.#noteFinding(finding, 'bad', `finding ${finding.kind}: ${finding.sentence}`);
    for (const [key, finding] of this.#findings)
      if (!now.has(key))
        this.#noteFinding(finding, 'good', `finding ended: ${finding.kind} of ${finding.subject}`);
    this.#findings.clear();
    for (const [key, finding] of now) this.#findings.set(key, finding);
  }

  #noteFinding({ kind, subject }: Finding, effect: 'bad' | 'good', sentence: string): void {
    this.#kept.history.addChange({ change: 'finding', effect, sentence, about: findSubjects(kind, subject) });
  }

  #lookAtReadiness(): void {
    const state = this.#options.server.plainReadiness();
    const { clock } = this.#options;
    if (!state.ready && clock.now() - this.#startedAt < STARTS) return;
    const words = state.ready ? 'the server is ready' : `the server is not ready: ${state.reason}`;
    if (words === this.#readiness) return;
    this.#readiness = words;
    this.#noteServer(state.ready ? 'good' : 'bad', words, ['server', 'readiness']);
  }

  #noteServer(effect: 'bad' | 'good' | 'either', sentence: string, about = ['server']): void {
    this.#kept.history.addChange({ change: 'server', effect, sentence, about });
  }
}

/** Of a value with several lines. */
function toLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > MAX_PLAN_TEXT ? `${line.slice(0, MAX_PLAN_TEXT)}…` : line;
}

const WORDS = { came: 'was added', went: 'was removed', changed: 'was changed' } as const;

function describeState(state: string, former: string | undefined): string {
  if (state === 'well') return 'replies again';
  if (state === 'off') return 'was switched off';
  if (state === 'untried') return 'is asked again';
  return `is ${state}${former === undefined ? '' : `, ${former} before`}`;
}

const OF_UPSTREAMS: readonly string[] = ['upstream-unreachable', 'upstream-slow', 'forwarding-loop'];
const OF_OBJECTS: readonly string[] = ['data-stale', 'api-forbidden', 'api-unreachable'];

function findSubjects(kind: string, subject: string): readonly string[] {
  if (OF_UPSTREAMS.includes(kind)) return [`upstream ${subject}`];
  if (OF_OBJECTS.includes(kind)) return ['objects'];
  if (kind === 'config-rejected') return ['configuration'];
  return [subject.includes('/') && !subject.includes(' ') ? `service ${subject}` : 'server'];
}
