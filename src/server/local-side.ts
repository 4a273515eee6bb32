/**
 * All that is not to be asked elsewhere, or not to be believed: local names, rules for questions, rules for replies.
 */
import type { Handler } from '../chain/chain.ts';
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { createKnownNamesHandler, type LocalNetwork } from '../handlers/local/known-names.ts';
import {
  compileQuestionRules,
  type QuestionRuleBook,
  type QuestionRules,
} from '../handlers/local/question-rules.ts';
import {
  createReplyFilter,
  leavesAddresses,
  type ReplyFilter,
  type ReplyRules,
} from '../handlers/local/reply-rules.ts';
import type { HostsFormat } from '../sources/hosts/hosts-format.ts';
import type { LocalNamesPlan } from '../sources/local/local-plan.ts';
import type { TableWriter } from '../table/writer.ts';
import type { NameKey, ResourceRecord } from '../wire/types.ts';
import { LocalData } from './local-data.ts';

export interface LocalTerms {
  readonly names: LocalNamesPlan;
  /** Hosts files and folders of them, in the order in which they are to be read. */
  readonly hostsPaths: readonly string[];
  readonly format: HostsFormat;
  readonly questions: QuestionRules;
  readonly replies: ReplyRules;
}

export interface LocalSideOptions {
  readonly terms: LocalTerms;
  readonly table: TableWriter;
  /** Whether answers carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** The networks that this machine is part of, as they are now. */
  readonly networks: () => readonly LocalNetwork[];
  /** Called with domains whose cached answers may no longer be right. */
  readonly forget: (domains: readonly NameKey[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export class LocalSide {
  /** Answers what is known of a name. */
  readonly knownNames: Handler;
  /** Denies a name that is known no more than the type, where there is nobody to ask for it. */
  readonly keepKnownNames: Handler;
  /** Answers by rule what is not known, before anybody is asked. */
  readonly questionRules: Handler;
  readonly filterReply: ReplyFilter;
  /** Whether something is known of a name or of one below it, so that it cannot be denied. */
  readonly mayExist: (name: NameKey) => boolean;
  readonly #terms: LocalTerms;
  readonly #data: LocalData;
  #rules: QuestionRuleBook;

  constructor({ terms, table, recursionAvailable, networks, forget, clock, log }: LocalSideOptions) {
    const { names: plan, hostsPaths, format } = terms;
    this.#terms = terms;
    this.#data = new LocalData({
      ...{ plan, hostsPaths, format, table, recursionAvailable, clock, log },
      onChange: forget,
    });
    this.#rules = this.#compileRules([]);
    this.knownNames = createKnownNamesHandler({ names: () => this.#data.names, networks });
    this.keepKnownNames = async (query, next) => {
      const answer = await next(query);
      if (answer.kind !== 'refused' || !this.#data.names.exists(query.key)) return answer;
      return { kind: 'nodata', aliases: [], soa: undefined, authoritative: false };
    };
    this.questionRules = (query, next) => this.#rules.handler(query, next);
    this.mayExist = (name) => this.#data.names.exists(name) || this.#rules.hasAddress(name);
    this.filterReply = createReplyFilter(terms.replies, this.mayExist, log);
  }

  /** Ends when all files are read and their names answered. */
  async start(): Promise<void> {
    await this.#data.start();
  }

  /** The hosts file that a record of ours is from; nothing for one of an option. */
  fileOf(record: ResourceRecord): string | undefined {
    return this.#data.names.fileOf(record);
  }

  /** Whether a question for addresses of a name is answered here, or may be. */
  concerns(name: NameKey, type: number): boolean {
    return this.#data.names.knows(name) || this.#rules.concerns(name, type);
  }

  /** Whether `filterReply` leaves replies alone that hold addresses, or deny what is not known here. */
  get leavesAddresses(): boolean {
    return leavesAddresses(this.#terms.replies);
  }

  /** Follows other routes beside those of the terms. */
  followRoutes(more: QuestionRules['routes']): void {
    this.#rules = this.#compileRules(more);
  }

  /** Looks for changed files at once. */
  reload(): void {
    this.#data.reload();
  }

  stop(): void {
    this.#data.stop();
  }

  #compileRules(more: QuestionRules['routes']): QuestionRuleBook {
    const { questions } = this.#terms;
    const exists = (name: NameKey) => this.#data.names.exists(name);
    return compileQuestionRules({ ...questions, routes: [...questions.routes, ...more] }, exists);
  }
}
