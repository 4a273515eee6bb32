/**
 * Forwards to other servers by `Forwarder`, as all front ends do.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Answer, OwnEdns } from '../../chain/answer.ts';
import type { DirectServers, Handler, Next } from '../../chain/handler.ts';
import { type Look, openQuestionOf } from '../../chain/look.ts';
import { isWithinAny, namesWithin } from '../../chain/match.ts';
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { Query } from '../../chain/query.ts';
import type { PluginInspection } from '../../contract/inspection.ts';
import type { ForwardTally } from '../../forward/forward-tally.ts';
import { formatSocketAddress } from '../../socket/addresses.ts';
import { passedErrorsOf } from '../../wire/extended-error.ts';
import { isWithin } from '../../wire/name.ts';
import { type Edns, type Message, type NameKey, RCODE } from '../../wire/types.ts';
import { countForwarding, type ForwardMetrics } from './forward-metrics.ts';
import { findServers, type IsOurselves, type TapServer } from './open-upstreams.ts';
import type { ForwardDirective, ForwardOptions, ForwardUpstream } from './options.ts';
import { type RuleOutcome, RuleServers } from './rule-servers.ts';

export interface ForwardDependencies {
  readonly clock: Clock;
  readonly metrics: PluginMetrics;
  readonly forwardTally: ForwardTally;
  readonly log: Log;
  /** Whether a server from a file is this one, so that it is left out. Default: always false. */
  readonly isOurselves?: IsOurselves;
  /** Whether each query is sent on by itself, as in CoreDNS. */
  readonly isStrict: boolean;
  /** Shows what goes to servers. Default: nothing does. */
  readonly tap?: TapServer | undefined;
  /** From 0 to below 1, for the choice of servers. */
  readonly random?: () => number;
}

interface RunningRule {
  readonly rule: ForwardDirective;
  readonly except: ReadonlySet<NameKey>;
  readonly nextRcodes: ReadonlySet<number>;
  /** Undefined until they are found. */
  servers: RuleServers | undefined;
}

export class Forward {
  readonly handler: Handler;
  readonly #dependencies: ForwardDependencies;
  readonly #rules: readonly RunningRule[];
  #counts: ForwardMetrics | undefined;

  constructor({ forwards }: ForwardOptions, dependencies: ForwardDependencies) {
    this.#dependencies = dependencies;
    this.#rules = forwards.map((rule) => ({
      rule,
      except: new Set(rule.except),
      nextRcodes: new Set(rule.nextRcodes),
      servers: undefined,
    }));
    this.handler = {
      name: 'forward',
      role: 'forwarder',
      directFor: (zone) => this.#directFor(zone),
      ruleFor: (name) => this.#rules.find((running) => isFor(running, name)),
      questions: namesWithin(new Set(forwards.map(({ from }) => from))),
      answers: 'unchanged',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  /** Finds the servers. @throws UpstreamError */
  async start(): Promise<void> {
    const {
      clock,
      metrics,
      isOurselves,
      isStrict,
      log,
      random = Math.random,
      tap,
      forwardTally: tally,
    } = this.#dependencies;
    const counts = countForwarding(metrics);
    this.#counts = counts;
    for (const running of this.#rules) {
      const { rule } = running;
      const places = await findServers(rule, { isOurselves, log });
      running.servers = new RuleServers({
        ...{ rule, places, isStrict, tap, counts, tally, clock, log, random },
      });
    }
  }

  stop(): void {
    for (const { servers } of this.#rules) servers?.stop();
    this.#counts?.stop();
  }

  inspect(): PluginInspection {
    return { forwarders: this.#rules.flatMap(({ servers }) => servers?.forwarder ?? []) };
  }

  /** The servers for names of a zone that no other rule covers; undefined: readers may not ask them. */
  #directFor(zone: NameKey): DirectServers | undefined {
    const place = this.#rules.findIndex(({ rule }) => isWithin(zone, rule.from));
    const found = this.#rules[place];
    if (found?.servers === undefined) return undefined;
    const { servers, rule } = found;
    const isLast = place === this.#rules.length - 1;
    if (!isLast && (rule.nextRcodes.length > 0 || rule.nextOnNoData)) return undefined;
    const before = this.#rules.slice(0, place).map((each) => each.rule.from);
    return {
      forwarder: servers.forwarder,
      exceptions: [...before, ...rule.except],
      countReply: (...reply) => servers.countReply(...reply),
    };
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    for (const [index, running] of this.#rules.entries()) {
      if (!isFor(running, query.key)) continue;
      query.forbidStoring();
      if (query.look !== undefined) return look(running, query.key, query.look);
      const outcome = await running.servers?.ask(query);
      if (outcome === undefined) return { kind: 'servfail' };
      if (outcome.kind === 'reply') query.noteMetadata('forward/upstream', outcome.server);
      const isLast = index === this.#rules.length - 1;
      if (isLast || !asksNext(running, outcome)) return answerOf(query, outcome);
    }
    return next(query);
  }
}

/** Notes the servers without asking them. */
function look({ servers, rule }: RunningRule, name: NameKey, looking: Look): Answer {
  looking.wouldAsk(
    servers === undefined
      ? { name, servers: rule.upstreams.map(describeUpstream), problem: undefined }
      : openQuestionOf(name, servers.forwarder.serversFor(name)),
  );
  return { kind: 'servfail' };
}

function describeUpstream(upstream: ForwardUpstream): string {
  switch (upstream.kind) {
    case 'address':
      return formatSocketAddress(upstream);
    case 'name':
      return upstream.name;
    case 'file':
      return upstream.path;
  }
}

function isFor({ rule, except }: RunningRule, name: NameKey): boolean {
  return isWithin(name, rule.from) && (name === rule.from || !isWithinAny(name, except));
}

function asksNext({ rule, nextRcodes }: RunningRule, outcome: RuleOutcome): boolean {
  if (outcome.kind !== 'reply') return false;
  const { answers } = outcome.message;
  const rcode = rcodeOf(outcome.message);
  return nextRcodes.has(rcode) || (rule.nextOnNoData && rcode === RCODE.NOERROR && answers.length === 0);
}

function answerOf(query: Query, outcome: RuleOutcome): Answer {
  if (outcome.kind !== 'reply')
    return {
      kind: outcome.kind === 'failed' ? 'servfail' : 'overloaded',
      reason: outcome.reason,
      ...(outcome.extendedError !== undefined && { extendedError: outcome.extendedError }),
    };
  const { header, answers, authorities, additionals, edns } = outcome.message;
  const { authoritative, truncated, recursionAvailable, authenticData } = header;
  const { recursionDesired, checkingDisabled } = header;
  return {
    kind: 'message',
    rcode: rcodeOf(outcome.message),
    ...{ authoritative, truncated, recursionAvailable, authenticData, recursionDesired, checkingDisabled },
    ...{ answers, authorities, additionals },
    ...(edns !== undefined && query.edns !== undefined && { edns: ownEdnsOf(edns) }),
    passedErrors: passedErrorsOf(edns),
  };
}

function ownEdnsOf({ udpSize, dnssecOk, options }: Edns): OwnEdns {
  return { udpSize, dnssecOk, options };
}

function rcodeOf({ header, edns }: Message): number {
  return header.rcode | ((edns?.extendedRcode ?? 0) << 4);
}
