/**
 * Verifies the signatures of queries, and has the responses signed (RFC 8945).
 */
import { typeName } from '@portolan/dns/mnemonics.ts';
import { isMacMalformed, ResponseSigner, TSIG_ERROR, verifyQuery } from '@portolan/dns/tsig.ts';
import { type NameKey, RCODE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import type { NamedSecret, TsigOptions } from './options.ts';

export interface TsigDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

export class Tsig {
  readonly handler: Handler;
  readonly #options: TsigOptions;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #keys: ReadonlyMap<NameKey, NamedSecret>;
  readonly #dependencies: TsigDependencies;

  constructor(options: TsigOptions, dependencies: TsigDependencies) {
    this.#options = options;
    this.#zones = new Set(options.zones);
    this.#keys = new Map(options.keys.map((key) => [key.name, key]));
    this.#dependencies = dependencies;
    this.handler = {
      name: 'tsig',
      role: 'other',
      questions: namesWithin(this.#zones),
      answers: 'unchanged',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  /** A key, for plugins that sign messages of their own. */
  keyNamed(name: NameKey): NamedSecret | undefined {
    return this.#keys.get(name);
  }

  #handle(query: Query, next: Next): Answer | Promise<Answer> {
    if (!isWithinAny(query.key, this.#zones)) return next(query);
    // A stored answer would be given without a signature, and without looking at that of the query.
    query.forbidStoring();
    const { signature } = query;
    if (signature === 'none') return this.#isRequired(query) ? this.#refuse(query) : next(query);
    if (signature === 'malformed' || isMacMalformed(signature)) return { kind: 'formerr' };
    const key = this.#keys.get(signature.key);
    const error = this.#options.unusable.includes(signature.key)
      ? TSIG_ERROR.BADSIG
      : verifyQuery(signature, key, this.#seconds());
    query.signWith(new ResponseSigner(signature, key, error, () => this.#seconds()));
    if (error === TSIG_ERROR.NONE) return next(query);
    const { log } = this.#dependencies;
    log.debug(`plugin/tsig: TSIG validation failed: ${typeName(query.question.type)} error ${error}`);
    return { ...EMPTY_ANSWER, rcode: RCODE.NOTAUTH };
  }

  #isRequired({ question, header }: Query): boolean {
    const { types, opcodes } = this.#options;
    return types === 'all' || types.has(question.type) || opcodes === 'all' || opcodes.has(header.opcode);
  }

  #refuse({ question }: Query): Answer {
    const { log } = this.#dependencies;
    log.debug(`plugin/tsig: rejecting '${typeName(question.type)}' request without TSIG`);
    return { ...EMPTY_ANSWER, rcode: RCODE.REFUSED };
  }

  #seconds(): number {
    return Math.floor(this.#dependencies.clock.now() / 1000);
  }
}
