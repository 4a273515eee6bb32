/**
 * All that dnsmasq's options say of what is not to be asked elsewhere, or not to be believed: local names, rules for
 * questions, rules for replies.
 */
import type { Handler } from '../../chain/chain.ts';
import type { DnsmasqPlan, Route } from '../../config/dnsmasq/plan.ts';
import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { createKnownNamesHandler } from '../../handlers/local/known-names.ts';
import { compileQuestionRules, type QuestionRuleBook } from '../../handlers/local/question-rules.ts';
import {
  createReplyDismissal,
  createReplyFilter,
  type ReplyFilter,
} from '../../handlers/local/reply-rules.ts';
import type { TableWriter } from '../../table/writer.ts';
import type { Message, NameKey } from '../../wire/types.ts';
import { LocalData } from '../local-data.ts';
import type { Interfaces } from './interface-choice.ts';
import {
  DNSMASQ_HOSTS,
  hostsPathsOf,
  listLocalNetworks,
  localNamesPlan,
  questionRulesOf,
} from './local-plan.ts';

export interface LocalSideOptions {
  readonly plan: DnsmasqPlan;
  readonly table: TableWriter;
  readonly interfaces: () => Interfaces;
  /** Called with domains whose cached answers may no longer be right. */
  readonly forget: (domains: readonly NameKey[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export class LocalSide {
  /** To stand before the resolver, in this order. */
  readonly handlers: readonly Handler[];
  readonly filterReply: ReplyFilter;
  /** Whether a reply is to be waited past. */
  readonly dismissesReply: (message: Message) => boolean;
  readonly #plan: DnsmasqPlan;
  readonly #data: LocalData;
  #rules: QuestionRuleBook;

  constructor({ plan, table, interfaces, forget, clock, log }: LocalSideOptions) {
    this.#plan = plan;
    this.#data = new LocalData({
      plan: localNamesPlan(plan, interfaces()),
      hostsPaths: hostsPathsOf(plan),
      format: DNSMASQ_HOSTS,
      recursionAvailable: true,
      onChange: forget,
      ...{ table, clock, log },
    });
    this.#rules = this.#compileRules([]);
    const knownNames = createKnownNamesHandler({
      names: () => this.#data.names,
      networks: () => listLocalNetworks(interfaces()),
    });
    this.handlers = [knownNames, (query, next) => this.#rules.handler(query, next)];
    const exists = (name: NameKey) => this.#data.names.exists(name) || this.#rules.hasAddress(name);
    this.filterReply = createReplyFilter(plan.filters, exists, log);
    this.dismissesReply = createReplyDismissal(plan.filters.ignoredAddresses);
  }

  /** Ends when all files are read and their names answered. */
  async start(): Promise<void> {
    await this.#data.start();
  }

  /** Follows other routes beside those of the plan (`--servers-file`). */
  followRoutes(more: readonly Route[]): void {
    this.#rules = this.#compileRules(more);
  }

  /** Looks for changed files at once. */
  reload(): void {
    this.#data.reload();
  }

  stop(): void {
    this.#data.stop();
  }

  #compileRules(more: readonly Route[]): QuestionRuleBook {
    const rules = questionRulesOf(this.#plan);
    const exists = (name: NameKey) => this.#data.names.exists(name);
    return compileQuestionRules({ ...rules, routes: [...rules.routes, ...more] }, exists);
  }
}
