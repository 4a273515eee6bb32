/**
 * All that is not to be asked elsewhere, or not to be believed: local names, rules for questions, rules for replies.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS } from '../../chain/match.ts';
import type { HostsFormat } from '../../sources/hosts/hosts-format.ts';
import { LocalData } from '../../sources/local/local-data.ts';
import type { LocalNamesPlan } from '../../sources/local/local-plan.ts';
import type { LocalisedPublication } from '../../sources/local/localised-publications.ts';
import type { PublicationId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import type { AddressRange } from '../../wire/address-range.ts';
import type { NameKey, ResourceRecord } from '../../wire/types.ts';
import { createKnownNamesHandler } from './known-names.ts';
import {
  compileQuestionRules,
  isSameRules,
  type QuestionRuleBook,
  type QuestionRules,
} from './question-rules.ts';
import { createReplyFilter, leavesAddresses, type ReplyFilter, type ReplyRules } from './reply-rules.ts';

export interface LocalSettings {
  readonly names: LocalNamesPlan;
  /** Hosts files and folders of them, in the order in which they are to be read. */
  readonly hostsPaths: readonly string[];
  readonly format: HostsFormat;
  readonly questions: QuestionRules;
  readonly replies: ReplyRules;
}

export interface LocalHandlersOptions {
  readonly settings: LocalSettings;
  readonly table: TableWriter;
  /** The networks of clients that local addresses are chosen for; empty: all clients are told all. */
  readonly networks: readonly AddressRange[];
  /** Called when `localised` lists others than before; false: no view shows them. */
  readonly onShow: () => boolean;
  /** Called with domains whose cached answers may no longer be right. */
  readonly forget: (domains: readonly NameKey[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export class LocalHandlers {
  /** Answers what is known of a name. */
  readonly knownNames: Handler;
  /** Answers REFUSED for a name that is known here with NODATA. */
  readonly denyRefused: Handler;
  /** Answers by rule what is not known, before a server is asked. */
  readonly questionRules: Handler;
  /** What is done to replies of upstream servers. */
  readonly replyChanges: readonly ReplyFilter[];
  /** Whether something is known of a name or of one below it, so that it cannot be denied. */
  readonly mayExist: (name: NameKey) => boolean;
  readonly #settings: LocalSettings;
  readonly #data: LocalData;
  /** What `#rules` are compiled from. */
  #questions: QuestionRules;
  #rules: QuestionRuleBook;
  #networks: readonly AddressRange[];

  constructor(options: LocalHandlersOptions) {
    const { settings, table, networks, onShow, forget, clock, log } = options;
    const { names: plan, hostsPaths, format } = settings;
    this.#settings = settings;
    this.#data = new LocalData({
      plan,
      hostsPaths,
      format,
      table,
      networks,
      onShow,
      clock,
      log,
      onChange: forget,
    });
    this.#questions = settings.questions;
    this.#rules = this.#compileRules(settings.questions);
    const { publication } = this.#data;
    this.#networks = networks;
    this.knownNames = createKnownNamesHandler({
      publication,
      names: () => this.#data.names,
      networks: () => this.#networks,
    });
    this.denyRefused = {
      name: 'hosts-nodata',
      role: 'other',
      questions: NO_QUESTIONS,
      answers: 'chain',
      handle: async (query, next) => {
        const answer = await next(query);
        if (answer.kind !== 'refused' || !this.#data.names.exists(query.key)) return answer;
        return { kind: 'nodata', aliases: [], soa: undefined, authoritative: false };
      },
    };
    this.questionRules = this.#makeQuestionRules();
    this.mayExist = (name) => this.#data.names.exists(name) || this.#rules.hasAddress(name);
    this.replyChanges = [createReplyFilter(settings.replies, this.mayExist, log)];
  }

  /** Ends when all files are read and their names answered. */
  async start(): Promise<void> {
    await this.#data.start();
  }

  /** Holds the local names. No view shows it any more once the handlers are replaced. */
  get publication(): PublicationId {
    return this.#data.publication;
  }

  /** Those that hold names as the clients of a network see them. */
  get localised(): readonly LocalisedPublication[] {
    return this.#data.localised;
  }

  /** Chooses addresses for the clients of other networks from now on. */
  changeNetworks(networks: readonly AddressRange[]): void {
    this.#networks = networks;
    this.#data.changeNetworks(networks);
  }

  /** The hosts file that a record of ours is from; nothing for one of an option. */
  fileOf(record: ResourceRecord): string | undefined {
    return this.#data.names.fileOf(record);
  }

  /** Whether the table holds all names that are known: a name that it does not know is none of them. */
  get isPublished(): boolean {
    return this.#data.isPublished;
  }

  /** Whether `mayExist` is true of any name. */
  get mayKnowNames(): boolean {
    const { done: isEmpty = false } = this.#data.names.names()[Symbol.iterator]().next();
    return !isEmpty || this.#rules.hasAddresses;
  }

  /** Whether `replyChanges` leave replies alone that hold addresses, or deny what is not known here. */
  get leavesAddresses(): boolean {
    return leavesAddresses(this.#settings.replies);
  }

  /** Answers by these rules from now on. */
  changeRules(rules: QuestionRules): void {
    if (isSameRules(rules, this.#questions)) return;
    this.#questions = rules;
    this.#rules = this.#compileRules(rules);
  }

  /** Looks for changed files at once. */
  reload(): void {
    this.#data.reload();
  }

  stop(): void {
    this.#data.stop();
  }

  #compileRules(rules: QuestionRules): QuestionRuleBook {
    return compileQuestionRules(rules, (name) => this.#data.names.exists(name));
  }

  /** One handler, whatever the rules are at the moment. */
  #makeQuestionRules(): Handler {
    const rules = () => this.#rules.handler;
    return {
      name: 'question-rules',
      role: 'other',
      answers: 'unchanged',
      get questions() {
        return rules().questions;
      },
      handle: (query, next) => rules().handle(query, next),
    };
  }
}
