/**
 * Ends the process when queries that it forwards come back: a loop answers no client, and keeps every server in it busy.
 *
 * Once queries are received, it sends one for a name that no server knows. If it then sees that name more than twice, the query
 * has come back.
 */
import { randomInt } from 'node:crypto';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Chain, Handler } from '../../chain/handler.ts';
import { Query } from '../../chain/query.ts';
import { isWithin, parseName, ROOT, toKey } from '../../wire/name.ts';
import { CLASS, type NameKey, OPCODE, TYPE } from '../../wire/types.ts';
import type { LoopOptions } from './options.ts';

export interface LoopDependencies {
  readonly clock: Clock;
  /** The whole server block. */
  readonly chain: Chain;
  /** `dns://:53`. */
  readonly server: string;
  /** Ends the process. @param message in a form that people search for */
  readonly onLoop: (message: string) => void;
}

const MAX_SIGHTINGS = 2;
/** Milliseconds: how long tests are sent, the pause between two of them, and the maximum time until one comes back. */
const TESTING = 30_000;
const PAUSE = 1000;
const COMING_BACK = 2000;

const RANDOM = 2 ** 47;

export class Loop {
  readonly handler: Handler;
  readonly #dependencies: LoopDependencies;
  readonly #zone: NameKey;
  readonly #name: NameKey;
  #sightings = 0;
  #isOver = false;
  #timer: Timer | undefined;
  #since = 0;

  constructor({ zone }: LoopOptions, dependencies: LoopDependencies) {
    this.#dependencies = dependencies;
    this.#zone = zone;
    const labels = `${randomInt(RANDOM)}.${randomInt(RANDOM)}.`;
    this.#name = toKey(parseName(zone === ROOT ? labels : `${labels}${zone}`));
    this.handler = {
      name: 'loop',
      role: 'other',
      answers: 'unchanged',
      questions: {
        includes: (name, type) => type === TYPE.HINFO && name === this.#name,
        matches: () => [{ name: { kind: 'exact', name: this.#name }, types: new Set([TYPE.HINFO]) }],
      },
      handle: (query, next) => {
        this.#see(query);
        return next(query);
      },
    };
  }

  serving(): void {
    this.#since = this.#dependencies.clock.monotonic();
    void this.#test();
  }

  stop(): void {
    this.#end();
  }

  #see({ key, question, sender }: Query): void {
    if (this.#isOver || question.type !== TYPE.HINFO || !isWithin(key, this.#zone)) return;
    if (key === this.#name) this.#sightings += 1;
    if (this.#sightings <= MAX_SIGHTINGS) return;
    this.#end();
    const address = this.#dependencies.server.replace(/^\w+:\/\//, '');
    this.#dependencies.onLoop(
      `plugin/loop: Loop (${sender.address}:${sender.port} -> ${address}) detected for zone ` +
        `${JSON.stringify(this.#zone)}, see https://coredns.io/plugins/loop#troubleshooting. ` +
        `Query: "HINFO ${this.#name}"`,
    );
  }

  async #test(): Promise<void> {
    const { chain, clock } = this.#dependencies;
    if (this.#isOver) return;
    const answer = await chain(this.#makeQuery());
    if (!isFailure(answer)) {
      this.#timer = clock.after(COMING_BACK, () => this.#end());
      return;
    }
    this.#sightings = 0;
    if (clock.monotonic() - this.#since >= TESTING) this.#end();
    else this.#timer = clock.after(PAUSE, () => void this.#test());
  }

  #end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #makeQuery(): Query {
    const question = { name: this.#name, type: TYPE.HINFO, class: CLASS.IN };
    const header = {
      ...{ id: 0, response: false, opcode: OPCODE.QUERY, rcode: 0, recursionDesired: true },
      ...{ authoritative: false, truncated: false, recursionAvailable: false },
      ...{ authenticData: false, checkingDisabled: false },
    };
    return new Query(question, { header, question, edns: undefined }, OURSELVES);
  }
}

const OURSELVES = { address: '127.0.0.1', port: 0, transport: 'udp' } as const;

/** Whether the query did not reach a server that answered. */
function isFailure({ kind }: Answer): boolean {
  return kind === 'servfail' || kind === 'drop';
}
