/**
 * Answers names from etcd's keys, for questions that the answer table leaves to the chain.
 */
import { EXTENDED_ERROR } from '@portolan/dns/extended-error.ts';
import { toKey } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { type Answer, toReply } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, joinQuestions, namesWithin, type Questions } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import { negativeSoa, type Zone } from '@portolan/kernel/zone/zone.ts';
import { UNPUBLISHED_TYPES } from '../../source/etcd-publication.ts';
import type { EtcdSource, EvaluatedAnswer } from '../../source/etcd-source.ts';
import type { ServiceLookup } from '../../source/names/services.ts';
import type { OutsideAnswer, OutsideQuestion } from '../../source/rules/evaluation.ts';
import { isReverseZone } from '../../source/rules/rules.ts';
import type { UnlistedLookup } from '../../v2/unlisted-names.ts';

export interface EtcdHandlerOptions {
  readonly source: EtcdSource;
  readonly zones: ReadonlySet<NameKey>;
  /** Zones in which missing names go to the next handler. */
  readonly fallthrough: ReadonlySet<NameKey>;
  /** Whether SOA is answered at each name of a zone, as in CoreDNS; otherwise only at the apex. */
  readonly hasSoaEverywhere: boolean;
  /** TTL of an SOA record as an answer, in seconds. */
  readonly soaTtl: number;
  /** Answers names outside the zones. */
  readonly lookUp: Chain;
}

/** Maximum depth of queries that lead to one another, through outside names that lead inside again. */
const MAX_DEPTH = 16;
/** Maximum number of rounds of look-ups for outside names, and of names in one round. */
const MAX_ROUNDS = 3;
const MAX_OUTSIDE = 64;
/** Maximum number of rounds of reads of etcd: one more than the aliases that are followed. */
const MAX_UNLISTED_ROUNDS = 8;

/** An answer before outside names are asked for, and the look-up to evaluate it again with. */
interface FirstAnswer {
  readonly first: EvaluatedAnswer;
  readonly services: ServiceLookup | undefined;
}

export function createEtcdHandler(options: EtcdHandlerOptions): Extract<Handler, { role: 'publisher' }> {
  const { source, zones } = options;
  const handler = new EtcdHandler(options);
  return {
    name: 'etcd',
    role: 'publisher',
    publication: source.publication,
    questions: namesWithin(zones),
    unpublished: unpublishedQuestions(zones),
    answers: 'chain',
    handle: (query, next) => handler.handle(query, next),
  };
}

/** In reverse zones, the table holds the pointers; other types there have no node. */
function unpublishedQuestions(zones: ReadonlySet<NameKey>): Questions {
  const reverse = new Set([...zones].filter(isReverseZone));
  const forward = new Set([...zones].filter((zone) => !isReverseZone(zone)));
  return joinQuestions(namesWithin(forward, UNPUBLISHED_TYPES), namesWithin(reverse, new Set([TYPE.SOA])));
}

class EtcdHandler {
  readonly #options: EtcdHandlerOptions;

  constructor(options: EtcdHandlerOptions) {
    this.#options = options;
  }

  handle(query: Query, next: Next): Answer | Promise<Answer> {
    const { source } = this.#options;
    const zone = query.question.class === CLASS.IN ? source.findZone(query.key) : undefined;
    if (zone === undefined) return next(query);
    if (query.question.type === TYPE.SOA && this.#hasSoa(query, zone)) return this.#answerSoa(query, zone);
    if (!source.isKnown) {
      query.forbidStoring();
      return failure(zone, 'etcd is not read yet');
    }
    const services = source.lookUpUnlisted();
    const first = source.answer(zone.apex, query.question, undefined, services);
    if (services?.isIncomplete === true) return this.#answerUnlisted(query, zone, services, next);
    return this.#answer(query, zone, { first, services }, next);
  }

  /** Reads names that etcd does not list: the asked one, and those that its answer leads to. */
  async #answerUnlisted(query: Query, zone: Zone, services: UnlistedLookup, next: Next): Promise<Answer> {
    query.forbidStoring();
    try {
      let first: EvaluatedAnswer;
      let round = 0;
      do {
        await services.readMissing();
        first = this.#options.source.answer(zone.apex, query.question, undefined, services);
        round += 1;
      } while (services.isIncomplete && round < MAX_UNLISTED_ROUNDS);
      return await this.#answer(query, zone, { first, services }, next);
    } catch (error) {
      return failure(zone, describeError(error));
    }
  }

  #answer(query: Query, zone: Zone, { first, services }: FirstAnswer, next: Next): Answer | Promise<Answer> {
    if (first.wanted.length === 0) return this.#present(query, zone, first, next);
    return this.#askOutside(query, zone, { first, services }, next);
  }

  #hasSoa({ key }: Query, { apex }: Zone): boolean {
    return this.#options.hasSoaEverywhere || key === apex;
  }

  #answerSoa(query: Query, zone: Zone): Answer {
    const record: ResourceRecord = {
      name: zone.apex,
      class: CLASS.IN,
      ttl: this.#options.soaTtl,
      data: zone.soa,
    };
    // The serial is the current time.
    query.forbidStoring();
    return { kind: 'records', records: [record], additionals: [], authoritative: true };
  }

  #present(
    query: Query,
    zone: Zone,
    { answer, isTimed }: EvaluatedAnswer,
    next: Next,
  ): Answer | Promise<Answer> {
    if (isTimed) query.forbidStoring();
    switch (answer.kind) {
      case 'records':
        return {
          ...answer,
          authoritative: true,
          ...(this.#options.source.isStale(query.key) && { extendedError: EXTENDED_ERROR.STALE_ANSWER }),
        };
      case 'servfail':
        query.forbidStoring();
        return failure(zone, answer.reason);
      case 'nxdomain':
        if (!this.#options.source.isRead) {
          query.forbidStoring();
          return failure(zone, 'etcd is not read yet, and the snapshot does not have the name');
        }
        if (isWithinAny(query.key, this.#options.fallthrough)) return next(query);
        break;
      case 'nodata':
        break;
    }
    return { kind: answer.kind, aliases: [], soa: negativeSoa(zone), authoritative: true };
  }

  /** Adds the answers of others for outside names. */
  async #askOutside(query: Query, zone: Zone, { first, services }: FirstAnswer, next: Next): Promise<Answer> {
    query.forbidStoring();
    const known = new Map<string, OutsideAnswer & { readonly truncated?: boolean }>();
    let evaluated = first;
    for (let round = 0; round < MAX_ROUNDS && evaluated.wanted.length > 0; round += 1) {
      const wanted = evaluated.wanted.slice(0, MAX_OUTSIDE);
      const answers = await Promise.all(wanted.map((question) => this.#lookUp(query, question)));
      for (const [index, question] of wanted.entries()) {
        const answer = answers[index];
        if (answer !== undefined) known.set(toQuestionKey(question), answer);
      }
      const outside = (question: OutsideQuestion) => known.get(toQuestionKey(question));
      evaluated = this.#options.source.answer(zone.apex, query.question, outside, services);
    }
    const answer = await this.#present(query, zone, evaluated, next);
    const truncated = [...known.values()].some((each) => each.truncated === true);
    return answer.kind === 'records' ? { ...answer, truncated } : answer;
  }

  async #lookUp(
    query: Query,
    { name, type }: OutsideQuestion,
  ): Promise<OutsideAnswer & { readonly truncated?: boolean }> {
    const failed = { rcode: RCODE.SERVFAIL, records: [] };
    if (query.depth >= MAX_DEPTH) return failed;
    const answer = await this.#options.lookUp(query.about({ name, type, class: CLASS.IN }));
    if (answer.kind === 'drop') return failed;
    const { rcode = RCODE.NOERROR, answers: records = [], truncated = false } = toReply(answer);
    return { rcode, records, truncated };
  }
}

/** As in CoreDNS: with the SOA record of the zone. */
function failure(zone: Zone, reason: string): Answer {
  return {
    ...EMPTY_ANSWER,
    rcode: RCODE.SERVFAIL,
    reason,
    authoritative: true,
    authorities: [negativeSoa(zone)],
  };
}

function toQuestionKey({ name, type }: OutsideQuestion): string {
  return `${toKey(name)} ${type}`;
}
