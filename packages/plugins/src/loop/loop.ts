/**
 * Detects queries that come back from the servers that they were forwarded to: a loop answers no client, and keeps every server in
 * it busy.
 *
 * Once queries are received, the handler sends one for a name that no server knows. If it then sees that name more than twice, the
 * query has returned. While a loop is known, questions that would take it are answered SERVFAIL at once, and are not forwarded. A
 * further test every few seconds finds out whether the loop is still there.
 */
import { randomInt } from 'node:crypto';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { encodeName, isWithin, parseKey, ROOT } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, OPCODE, TYPE } from '@portolan/dns/types.ts';
import type { Timer } from '@portolan/kernel/base/clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { PluginContext } from '@portolan/kernel/contract/plugin.ts';
import type { LoopOptions } from './options.ts';

export interface LoopDependencies
  extends Pick<PluginContext, 'clock' | 'log' | 'chain' | 'server' | 'changed'> {
  readonly handlers: () => readonly Handler[];
  /** Ends the process; undefined: the loop is logged, and the process goes on. @param message CoreDNS's */
  readonly endProcess: ((message: string) => void) | undefined;
}

const MAX_SIGHTINGS = 2;
/** Milliseconds: how long failing tests are repeated, the pause between two, and the maximum time until one comes back. */
const TESTING = 30_000;
const PAUSE = 1000;
const COMING_BACK = 2000;
/** Milliseconds between two tests of a loop. */
const RETEST = 5000;

const RANDOM = 2 ** 47;

export class Loop {
  readonly handler: Handler;
  readonly #dependencies: LoopDependencies;
  readonly #zone: NameKey;
  #name: NameKey;
  #sightings = 0;
  #isLooping: boolean;
  /** Whether a test is under way: only then do sightings mean anything. */
  #isTesting = false;
  #isOver = false;
  #timer: Timer | undefined;
  #since = 0;

  /** @param former the loop that it replaces: a loop that this knows is there until a test has found it gone */
  constructor({ zone }: LoopOptions, dependencies: LoopDependencies, former?: Loop) {
    this.#dependencies = dependencies;
    this.#zone = zone;
    this.#name = randomName(zone);
    this.#isLooping = former?.isLooping ?? false;
    this.handler = {
      name: 'loop',
      role: 'other',
      explainedBy: 'loop',
      answers: 'unchanged',
      questions: {
        includes: (name, type) => (this.#isLooping && this.#takesLoop(name)) || this.#isTest(name, type),
        matches: () =>
          this.#isLooping
            ? [{ name: { kind: 'any' }, types: 'all' }]
            : [{ name: { kind: 'exact', name: this.#name }, types: new Set([TYPE.HINFO]) }],
      },
      handle: (query, next) => {
        const isTest = this.#isTest(query.key, query.question.type);
        if (isTest) this.#see(query);
        // A test must not go round for ever.
        const isRefused = isTest
          ? this.#sightings > MAX_SIGHTINGS
          : this.#isLooping && this.#takesLoop(query.key);
        if (!isRefused) return next(query);
        query.forbidStoring();
        return { kind: 'servfail', reason: 'plugin/loop: Loop detected' };
      },
    };
  }

  get isLooping(): boolean {
    return this.#isLooping;
  }

  /** Not ready with a loop from the start, which holds a rollout. Later it stays ready: all replicas find a loop at once. */
  isReady(): boolean {
    return !this.#isLooping;
  }

  inspect(): PluginInspection {
    return this.#isLooping ? { loopingZone: this.#zone } : {};
  }

  serving(): void {
    this.#since = this.#dependencies.clock.monotonic();
    void this.#test();
  }

  stop(): void {
    this.#isOver = true;
    this.#isTesting = false;
    this.#timer?.cancel();
  }

  #isTest(name: NameKey, type: number): boolean {
    return this.#isTesting && type === TYPE.HINFO && name === this.#name;
  }

  /** Whether a question would be forwarded as the test is. */
  #takesLoop(name: NameKey): boolean {
    const rule = this.#findRule(this.#name);
    return rule === undefined ? isWithin(name, this.#zone) : rule === this.#findRule(name);
  }

  /** What distinguishes the servers to which a name is forwarded; undefined: no handler knows. */
  #findRule(name: NameKey): unknown {
    for (const handler of this.#dependencies.handlers()) {
      const rule = handler.role === 'forwarder' ? handler.ruleFor?.(name) : undefined;
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  #see({ sender }: Query): void {
    this.#sightings += 1;
    if (this.#isOver || this.#sightings !== MAX_SIGHTINGS + 1 || this.#isLooping) return;
    const { endProcess, log, server } = this.#dependencies;
    const address = server.replace(/^\w+:\/\//, '');
    const message =
      `plugin/loop: Loop (${sender.address}:${sender.port} -> ${address}) detected for zone ` +
      `${JSON.stringify(this.#zone)}, see https://coredns.io/plugins/loop#troubleshooting. ` +
      `Query: "HINFO ${this.#name}"`;
    if (endProcess !== undefined) {
      this.stop();
      endProcess(message);
      return;
    }
    log.error(message);
    this.#become(true);
  }

  async #test(): Promise<void> {
    const { chain, clock } = this.#dependencies;
    if (this.#isOver) return;
    this.#isTesting = true;
    this.#sightings = 0;
    const answer = await chain(this.#makeQuery());
    if (this.#isOver) return;
    if (!isFailure(answer)) this.#after(COMING_BACK, () => this.#judge());
    else if (this.#isLooping) this.#testLater();
    else if (clock.monotonic() - this.#since < TESTING) this.#after(PAUSE, () => void this.#test());
    else this.#isTesting = false;
  }

  /** The test was answered, and had time to come back. */
  #judge(): void {
    if (!this.#isLooping) {
      this.#isTesting = false;
      return;
    }
    if (this.#sightings > MAX_SIGHTINGS) {
      this.#testLater();
      return;
    }
    this.#isTesting = false;
    this.#dependencies.log.info(`plugin/loop: Loop for zone ${JSON.stringify(this.#zone)} is gone`);
    this.#become(false);
  }

  #testLater(): void {
    this.#after(RETEST, () => {
      // Servers may have cached what they know of the former name.
      this.#name = randomName(this.#zone);
      void this.#test();
    });
  }

  #become(isLooping: boolean): void {
    this.#isLooping = isLooping;
    this.#dependencies.changed();
  }

  #after(milliseconds: number, act: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#dependencies.clock.after(milliseconds, act);
  }

  #makeQuery(): Query {
    const question = { name: this.#name, type: TYPE.HINFO, class: CLASS.IN };
    const header = {
      id: 0,
      response: false,
      opcode: OPCODE.QUERY,
      rcode: 0,
      recursionDesired: true,
      authoritative: false,
      truncated: false,
      recursionAvailable: false,
      authenticData: false,
      checkingDisabled: false,
    };
    // It counts as a query that the listeners have received.
    const octets = HEADER_OCTETS + encodeName(this.#name).length + 4;
    const site = { server: this.#dependencies.server, zone: this.#zone, view: '', octets };
    return new Query(question, { header, question, edns: undefined }, OURSELVES, undefined, site);
  }
}

const OURSELVES = { address: '127.0.0.1', port: 0, transport: 'udp' } as const;

function randomName(zone: NameKey): NameKey {
  const labels = `${randomInt(RANDOM)}.${randomInt(RANDOM)}.`;
  return parseKey(zone === ROOT ? labels : `${labels}${zone}`);
}

/** Whether the query did not reach a server that answered. */
function isFailure({ kind }: Answer): boolean {
  return kind === 'servfail' || kind === 'drop';
}
