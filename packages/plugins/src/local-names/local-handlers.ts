/**
 * Local names, question rules and reply filters.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { NameKey, ResourceRecord } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Handler, ReplyChanges } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { LocalisedPublication, PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { HostsManner } from '@portolan/sources/hosts/hosts-manner.ts';
import { LocalData } from '@portolan/sources/local/local-data.ts';
import type { LocalNamesPlan } from '@portolan/sources/local/local-plan.ts';
import { createKnownNamesHandler } from './known-names.ts';
import {
  compileQuestionRules,
  isSameRules,
  type QuestionRuleBook,
  type QuestionRules,
} from './question-rules.ts';
import { createReplyFilter, leavesAddresses, type ReplyRules } from './reply-rules.ts';

export interface LocalSettings {
  readonly names: LocalNamesPlan;
  /** Hosts files and folders of them, in reading order. */
  readonly hostsPaths: readonly string[];
  readonly manner: HostsManner;
  readonly questions: QuestionRules;
  readonly replies: ReplyRules;
}

export interface LocalHandlersOptions {
  readonly settings: LocalSettings;
  readonly table: TableWriter;
  /** Networks whose clients get the local addresses of their own network; empty: all clients get all addresses. */
  readonly networks: readonly AddressRange[];
  /** Called when `localised` has changed. @returns false if no view shows the change */
  readonly onShow: () => boolean;
  /** Called with domains whose cached answers may be outdated. */
  readonly forget: (domains: readonly NameKey[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export class LocalHandlers {
  /** Answers from the known names. */
  readonly knownNames: Handler;
  /** Replaces REFUSED for a known name by NODATA. */
  readonly denyRefused: Handler;
  /** Answers other questions by rule, before a server is asked. */
  readonly questionRules: Handler;
  /** Whether a name, or one below it, is known here, so that it cannot be denied. */
  readonly mayExist: (name: NameKey) => boolean;
  readonly #data: LocalData;
  /** The source of `#rules`. */
  #questions: QuestionRules;
  #rules: QuestionRuleBook;
  #networks: readonly AddressRange[];

  constructor(options: LocalHandlersOptions) {
    const { settings, table, networks, onShow, forget, clock, log } = options;
    const { names: plan, hostsPaths, manner } = settings;
    this.#data = new LocalData({
      plan,
      hostsPaths,
      manner,
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
    this.mayExist = (name) => this.#data.names.exists(name) || this.#rules.hasAddress(name);
    const replies: ReplyChanges = {
      changes: [createReplyFilter(settings.replies, this.mayExist, log)],
      leavesAddresses: leavesAddresses(settings.replies),
      mayKnowNames: () => this.#mayKnowNames,
      knowsItsNames: () => this.#data.isPublished,
    };
    const knownNames = createKnownNamesHandler({
      publication,
      names: () => this.#data.names,
      networks: () => this.#networks,
    });
    this.knownNames = { ...knownNames, replies };
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
  }

  /** Resolves when all files are read and their names are answered. */
  async start(): Promise<void> {
    await this.#data.start();
  }

  /** Holds the local names. After the handlers are replaced, no view shows it any more. */
  get publication(): PublicationId {
    return this.#data.publication;
  }

  /** The publications with names as the clients of a network see them. */
  get localised(): readonly LocalisedPublication[] {
    return this.#data.localised;
  }

  /** From now on, chooses addresses for clients of these networks. */
  changeNetworks(networks: readonly AddressRange[]): void {
    this.#networks = networks;
    this.#data.changeNetworks(networks);
  }

  /** The hosts file of one of our records; undefined for records of options. */
  findHostsFile(record: ResourceRecord): string | undefined {
    return this.#data.names.findHostsFile(record);
  }

  /** Whether at least one name is known here. */
  get #mayKnowNames(): boolean {
    const { done: isEmpty = false } = this.#data.names.names()[Symbol.iterator]().next();
    return !isEmpty || this.#rules.hasAddresses;
  }

  /** From now on, answers by these rules. */
  changeRules(rules: QuestionRules): void {
    if (isSameRules(rules, this.#questions)) return;
    this.#questions = rules;
    this.#rules = this.#compileRules(rules);
  }

  /** Checks for changed files at once. */
  reload(): void {
    this.#data.reload();
  }

  stop(): void {
    this.#data.stop();
  }

  /** Gives the memory of all names back. The publication must be dropped. */
  release(): void {
    this.#data.release();
  }

  #compileRules(rules: QuestionRules): QuestionRuleBook {
    return compileQuestionRules(rules, (name) => this.#data.names.exists(name));
  }

  /** A single handler that applies the current rules. */
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
