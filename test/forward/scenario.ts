/**
 * Scenario files: questions with their times, the behaviour of servers, and the expected results, in virtual time.
 *
 *     # a comment; the first one is the name of the scenario
 *     servers a b@10                    upstream servers in order, the second with a rate of 10 queries a second
 *     options policy fastest, hedging off, in-flight 2
 *     0    a silent                     from this millisecond on the server does not answer
 *     0    b answers NXDOMAIN in 20     it answers after 20 ms
 *     0    ask one www.example. A by 10.0.0.1 do
 *     20   got one NXDOMAIN from b at 20    the question named `one` has its answer, since then
 *     20   waits two                    it has none
 *     20   lost two timeout at 10       it failed, for this reason
 *     20   sent a 1, b 1                queries so far, without probes; `probes` counts those
 *     20   state a failing
 *     20   counts coalesced 1, hedged 0
 *     20   servers b c                  the plan changes; so does `options`
 *     20   test loops
 *
 * Other behaviours: `loses all but 3 in 20`, `unreachable`, `loops in 5` (the query comes back to us), `old in 5` (knows no EDNS), `deaf in 5` (drops it),
 * `truncates in 5`. Commas are for the reader.
 */
import { readFileSync } from 'node:fs';
import { parseType, rcodeName } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
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
import { answerAfter, keepSilent, makeAnswer } from '@portolan/testing/upstream/reactions.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { getQuestion } from '@portolan/testing/upstream/reply.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { expect } from 'vitest';

type Landing = { readonly reply: ForwardReply; readonly at: number };

/** The scenario's name, from its first comment. */
export function nameOfScenario(path: string): string {
  return /^# (.*)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? path;
}

/** Runs a scenario file. Fails at the first line that does not hold, named with its number. */
export async function runScenario(path: string): Promise<void> {
  const scenario = new Scenario();
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const words = line
      .replace(/#.*$/, '')
      .trim()
      .split(/[\s,]+/);
    if (words[0] === '') continue;
    await scenario.run(words, `${path}:${index + 1}: ${line}`);
  }
  scenario.stop();
}

class Scenario {
  readonly #clock = new ManualClock();
  readonly #servers = new Map<string, VirtualUpstream>();
  readonly #completions = new Map<string, Landing | undefined>();
  #plan: ForwardPlan = { ...DEFAULT_FORWARD_PLAN, loopDetection: false };
  #forwarder: Forwarder | undefined;

  async run(words: readonly string[], place: string): Promise<void> {
    const [first = '', second = '', ...rest] = words;
    if (first === 'options') this.#setOptions(words.slice(1));
    else if (first === 'servers') this.#setServers(words.slice(1));
    else {
      expect(/^\d+$/.test(first), `a time to begin with: ${place}`).toBe(true);
      await this.#advanceTo(Number(first), place);
      await this.#step(second, rest, place);
    }
  }

  stop(): void {
    this.#forwarder?.stop();
  }

  get #running(): Forwarder {
    this.#forwarder ??= new Forwarder(this.#plan, {
      clock: this.#clock,
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
      server = new VirtualUpstream(this.#clock, keepSilent);
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

  #setOptions(words: readonly string[]): void {
    const values = new Map(pairs(words));
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

  async #advanceTo(time: number, place: string): Promise<void> {
    expect(time, `time goes on: ${place}`).toBeGreaterThanOrEqual(this.#clock.monotonic());
    // By single milliseconds, so that an answer is seen at the moment that it is there.
    while (this.#clock.monotonic() < time) {
      this.#clock.advance(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #step(verb: string, words: readonly string[], place: string): Promise<void> {
    const [subject = '', ...rest] = words;
    switch (verb) {
      case 'ask':
        await this.#ask(subject, rest);
        return;
      case 'servers':
        this.#setServers(words);
        return;
      case 'options':
        this.#setOptions(words);
        return;
      case 'test':
        this.#running.testForLoops();
        return;
      case 'got':
      case 'lost':
      case 'waits':
        expect(this.#show(subject), place).toBe([verb, ...rest].join(' '));
        return;
      case 'sent':
        for (const [name, count] of pairs(words)) expect(this.#server(name).asked, place).toBe(Number(count));
        return;
      case 'probes':
        for (const [name, count] of pairs(words))
          expect(this.#server(name).probes, place).toBe(Number(count));
        return;
      case 'state':
        expect(this.#findState(subject), place).toBe(rest[0]);
        return;
      case 'counts':
        for (const [name, count] of pairs(words))
          expect(new Map(Object.entries(this.#running.statistics())).get(name), `${name} in ${place}`).toBe(
            Number(count),
          );
        return;
      default:
        this.#changeServer(this.#server(verb), words, place);
    }
  }

  #changeServer(server: VirtualUpstream, words: readonly string[], place: string): void {
    const onLoop = (question: Question) => void this.#running.isOwnProbe(question);
    server.react = parseReaction(words, server, onLoop, place);
  }

  async #ask(id: string, [name = '', type = '', ...rest]: readonly string[]): Promise<void> {
    const by = rest.indexOf('by');
    const question = {
      name: parseName(name),
      type: parseType(type) ?? 0,
      class: CLASS.IN,
      dnssecOk: rest.includes('do'),
      checkingDisabled: rest.includes('cd'),
      recursionDesired: true,
    };
    this.#completions.set(id, undefined);
    const client = { address: by < 0 ? '10.0.0.1' : (rest[by + 1] ?? '') };
    void this.#running.resolve(question, client).then((reply) => {
      this.#completions.set(id, { reply, at: this.#clock.monotonic() });
    });
    await new Promise((resolve) => setImmediate(resolve));
  }

  #show(id: string): string {
    const completion = this.#completions.get(id);
    if (completion === undefined) return this.#completions.has(id) ? 'waits' : 'was never asked';
    const { reply, at } = completion;
    const time = `at ${at}`;
    if (reply.kind === 'failed') return `lost ${reply.reason} ${time}`;
    const server = nameOfServer(reply.upstream.replace(/:53$/, ''));
    return `got ${rcodeName(reply.message.header.rcode)} from ${server} ${time}`;
  }

  #findState(name: string): string | undefined {
    const text = `${addressOfServer(name)}:53`;
    return this.#running.statistics().upstreams.find(({ upstream }) => upstream === text)?.state.kind;
  }
}

/** Servers are named by one letter. */
function addressOfServer(name: string): string {
  return `192.0.2.${name.charCodeAt(0)}`;
}

function nameOfServer(address: string): string {
  return String.fromCharCode(Number(address.split('.').at(-1)));
}

function* pairs(words: readonly string[]): Iterable<[string, string]> {
  for (let index = 0; index + 1 < words.length; index += 2)
    yield [words[index] ?? '', words[index + 1] ?? ''];
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
