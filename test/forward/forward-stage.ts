/**
 * The stage of scenarios about forwarding: a forwarder and its upstream servers, each named by a letter.
 *
 *     servers a b@10                      upstream servers in order, the second with a rate of 10 queries a second
 *     options policy fastest, in-flight 2
 *     0ms  a silent                       from this time on the server does not answer
 *     0ms  b answers NXDOMAIN in 20       it answers after 20 ms
 *     20ms got one NXDOMAIN from b at 20  the question named `one` has its answer, since then
 *     20ms lost two timeout at 10         it failed, for this reason
 *     20ms sent a 1, b 1                  queries so far, without probes; `probes` counts those
 *     20ms state a failing
 *     20ms servers b c                    the plan changes; so does `options`
 *     20ms test loops
 *
 * Other behaviours: `loses all but 3 in 20`, `unreachable`, `loops in 5` (the query comes back to us), `old in 5` (knows no EDNS), `deaf in 5` (drops it),
 * `truncates in 5`.
 */
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { CLASS, type Question, RCODE } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type Policy,
} from '@portolan/kernel/forward/forward-plan.ts';
import { Forwarder, type ForwardReply } from '@portolan/kernel/forward/forwarder.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import {
  pairWords,
  type ScenarioQuestion,
  type ScenarioResult,
  type ScenarioStage,
} from '@portolan/testing/scenario.ts';
import { answerAfter, keepSilent, makeAnswer } from '@portolan/testing/upstream/reactions.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { getQuestion } from '@portolan/testing/upstream/reply.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { expect } from 'vitest';

export class ForwardStage implements ScenarioStage {
  readonly clock = new ManualClock();
  /** So that an answer is seen at the moment that it is there. */
  readonly tick = 1;
  readonly #servers = new Map<string, VirtualUpstream>();
  #plan: ForwardPlan = { ...DEFAULT_FORWARD_PLAN, loopDetection: false };
  #forwarder: Forwarder | undefined;

  stop(): void {
    this.#forwarder?.stop();
  }

  get #running(): Forwarder {
    this.#forwarder ??= new Forwarder(this.#plan, {
      clock: this.clock,
      log: silentLog,
      resolveName: () => Promise.reject(new Error('no names here')),
      random: () => 0.5,
      connect: (_, address) => this.#server(nameOfServer(address)),
    });
    return this.#forwarder;
  }

  #server(name: string): VirtualUpstream {
    let server = this.#servers.get(name);
    if (server === undefined) {
      server = new VirtualUpstream(this.clock, keepSilent);
      this.#servers.set(name, server);
    }
    return server;
  }

  #setServers(names: readonly string[]): void {
    const rule = defaultRule([]);
    const servers = names.map((text) => {
      const [name = '', rate] = text.split('@');
      const queriesPerSecond = rate === undefined ? undefined : Number(rate);
      return { address: parseUpstream(addressOfServer(name)), queriesPerSecond };
    });
    this.#plan = { ...this.#plan, rules: [{ ...rule, target: { kind: 'servers', servers } }] };
    this.#forwarder?.change(this.#plan);
  }

  setOptions(values: ReadonlyMap<string, string>): void {
    const number = (name: string, usual: number) => Number(values.get(name) ?? usual);
    const flag = (name: string, usual: boolean) => (values.get(name) ?? (usual ? 'on' : 'off')) === 'on';
    const { limits, hedging, loopDetection, policy, tryNextOn, retry, timing } = this.#plan;
    this.#plan = {
      ...this.#plan,
      policy: (values.get('policy') ?? policy) as Policy, // Scenario files name policies as they are.
      hedging: flag('hedging', hedging),
      retry: values.get('retry') === 'client' ? { ...retry, trigger: 'client', scope: 'all' } : retry,
      timing: { ...timing, deadline: number('deadline', timing.deadline) },
      loopDetection: flag('loops', loopDetection),
      tryNextOn: values.has('next-on') ? [parseRcode(values.get('next-on') ?? '')] : tryNextOn,
      limits: {
        inFlight: number('in-flight', limits.inFlight),
        perClient: number('per-client', limits.perClient),
        queued: number('queued', limits.queued),
        queueDeadline: number('queue-deadline', limits.queueDeadline),
      },
    };
    this.#forwarder?.change(this.#plan);
  }

  step(verb: string, words: readonly string[], place: string): boolean {
    const [subject = '', state] = words;
    switch (verb) {
      case 'servers':
        this.#setServers(words);
        return true;
      case 'test':
        this.#running.testForLoops();
        return true;
      case 'sent':
        for (const [name, count] of pairWords(words))
          expect(this.#server(name).asked, place).toBe(Number(count));
        return true;
      case 'probes':
        for (const [name, count] of pairWords(words))
          expect(this.#server(name).probes, place).toBe(Number(count));
        return true;
      case 'state':
        expect(this.#findState(subject), place).toBe(state);
        return true;
      default:
        this.#changeServer(this.#server(verb), words, place);
        return true;
    }
  }

  count(name: string): number | undefined {
    return new Map(Object.entries(this.#running.statistics())).get(name);
  }

  #changeServer(server: VirtualUpstream, words: readonly string[], place: string): void {
    const onLoop = (question: Question) => void this.#running.isOwnProbe(question);
    server.react = parseReaction(words, server, onLoop, place);
  }

  async ask(
    { client, ...question }: ScenarioQuestion,
    note: (result: ScenarioResult) => void,
  ): Promise<void> {
    void this.#running
      .resolve({ ...question, class: CLASS.IN }, { address: client })
      .then((reply) => note(describeReply(reply, this.clock.monotonic())));
    await new Promise((resolve) => setImmediate(resolve));
  }

  #findState(name: string): string | undefined {
    const text = `${addressOfServer(name)}:53`;
    return this.#running.statistics().upstreams.find(({ upstream }) => upstream === text)?.state.kind;
  }
}

function describeReply(reply: ForwardReply, at: number): ScenarioResult {
  if (reply.kind === 'failed') return { verb: 'lost', words: `${reply.reason} at ${at}` };
  const server = nameOfServer(reply.upstream.replace(/:53$/, ''));
  return { verb: 'got', words: `${rcodeName(reply.message.header.rcode)} from ${server} at ${at}` };
}

/** Servers are named by one letter. */
function addressOfServer(name: string): string {
  return `192.0.2.${name.charCodeAt(0)}`;
}

function nameOfServer(address: string): string {
  return String.fromCharCode(Number(address.split('.').at(-1)));
}

function parseRcode(name: string): number {
  const rcode = Object.entries(RCODE).find(([known]) => known === name)?.[1];
  if (rcode === undefined) throw new Error(`no response code: ${name}`);
  return rcode;
}

/** How a server reacts from now on. @param onLoop hears of queries that come back */
function parseReaction(
  [kind = '', ...words]: readonly string[],
  server: VirtualUpstream,
  onLoop: (question: Question) => void,
  place: string,
): React {
  const delay = Number(words.at(-1) ?? 0);
  const answer = answerAfter(delay);
  switch (kind) {
    case 'silent':
      return keepSilent;
    case 'answers':
      return answerAfter(delay, parseRcode(words[0] ?? ''));
    case 'loses':
      return (received) => {
        if (server.count % Number(words[2]) === 0) answer(received);
      };
    case 'unreachable':
      return ({ cut }) => cut();
    case 'loops':
      return ({ query, after }) => after(delay, () => onLoop(getQuestion(query)));
    case 'old':
      return ({ query, send, after }) => {
        const rcode = query.edns === undefined ? RCODE.NOERROR : RCODE.FORMERR;
        after(delay, () => send({ ...makeAnswer(query, rcode), edns: undefined }));
      };
    case 'deaf':
      return (received) => {
        if (received.query.edns === undefined) answer(received);
      };
    case 'truncates':
      return ({ query, send, after }) => {
        const { header, ...whole } = makeAnswer(query);
        after(delay, () => send({ ...whole, header: { ...header, truncated: true }, answers: [] }));
      };
    default:
      throw new Error(`not a step: ${place}`);
  }
}
