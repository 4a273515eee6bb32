/**
 * Answers from zones that are fetched from primary servers.
 */
import { findClosest } from '@portolan/dns/name.ts';
import { type NameKey, OPCODE, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Losses } from '@portolan/kernel/base/losses.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { NotifyLog } from '../file/notify-log.ts';
import { findZoneAnswerRules, type ZoneAnswerRules } from '../file/zone-answer-rules.ts';
import { dropNotify, lookUpInZone, presentZoneAnswer, refuseIfLast } from '../file/zone-answers.ts';
import type { ZoneNames } from '../file/zone-names.ts';
import type { TransferSource } from '../transfer/transfer-source.ts';
import type { NamedSecret } from '../tsig/options.ts';
import { readCatalog } from './catalog.ts';
import { CatalogMembers } from './catalog-members.ts';
import { FollowedZone } from './followed-zone.ts';
import type { SecondaryOptions, SecondaryZone } from './options.ts';
import { TransferTurns } from './transfer-turns.ts';

export interface SecondaryDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** The whole server, for aliases that leave a zone. */
  readonly chain: Chain;
  /** Called when a zone has changed. */
  readonly onChange: (origin: NameKey) => void;
  /** A key of `tsig` in the block. Default: there is none. */
  readonly keyNamed?: (name: NameKey) => NamedSecret | undefined;
  /** The deviations in which answers are those of CoreDNS. */
  readonly restored: RestoredDeviations;
  /** Judges what a version of a zone lacks. Default: it goes at once. */
  readonly losses?: Losses | undefined;
  /** From 0 to below 1. Default: by chance. */
  readonly random?: () => number;
}

/** Zones that are fetched or checked at once. */
const MAX_TRANSFERS = 16;

export class Secondary implements TransferSource {
  readonly handler: Handler;
  readonly #dependencies: SecondaryDependencies;
  readonly #notifies: NotifyLog;
  readonly #zones: ReadonlyMap<NameKey, FollowedZone>;
  readonly #members: CatalogMembers;
  /** Until this one has started. */
  #former: Secondary | undefined;
  readonly #turns = new TransferTurns(MAX_TRANSFERS);
  readonly #fallthrough: ReadonlySet<NameKey>;
  readonly #rules: ZoneAnswerRules;

  /** @param former whose zones it serves until it has fetched its own */
  constructor(
    { zones, fallthrough }: SecondaryOptions,
    dependencies: SecondaryDependencies,
    former: Secondary | undefined,
  ) {
    this.#dependencies = dependencies;
    this.#rules = findZoneAnswerRules(dependencies.restored);
    this.#notifies = new NotifyLog(dependencies.log, dependencies.clock);
    this.#former = former;
    this.#zones = new Map(
      zones.map((plan) => [plan.origin, this.#makeZone(plan, former?.fetchedAt(plan.origin))]),
    );
    this.#members = new CatalogMembers({
      isNamed: (zone) => this.#zones.has(zone),
      formerAt: (zone) => this.#former?.fetchedAt(zone),
      makeZone: (plan, fetched) => this.#makeZone(plan, fetched),
      log: dependencies.log,
    });
    this.#fallthrough = new Set(fallthrough);
    this.handler = {
      name: 'secondary',
      role: 'other',
      // Members come and go: a catalog may list any of the names that it may list.
      questions: namesWithin(
        new Set(zones.flatMap(({ origin, catalog }) => [origin, ...(catalog?.within ?? [])])),
      ),
      answers: 'unchanged',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  fetchedAt(origin: NameKey): FollowedZone['fetched'] {
    return this.#zoneNamed(origin)?.fetched;
  }

  start(): void {
    for (const zone of this.#zones.values()) {
      zone.start();
      // The former plan may have fetched it.
      this.#members.follow(zone);
    }
    this.#former = undefined;
  }

  stop(): void {
    for (const zone of this.#zones.values()) zone.stop();
    this.#members.stop();
    this.#notifies.stop();
  }

  origins(): Iterable<NameKey> {
    const all = [...this.#zones.values(), ...this.#members.zones()];
    return all.flatMap(({ plan, names }) => (names === undefined ? [] : plan.origin));
  }

  zoneAt(origin: NameKey): ZoneNames | undefined {
    return this.#zoneNamed(origin)?.names;
  }

  #zoneNamed(origin: NameKey): FollowedZone | undefined {
    return this.#zones.get(origin) ?? this.#members.get(origin);
  }

  #makeZone(plan: SecondaryZone, fetched: FollowedZone['fetched']): FollowedZone {
    const { clock, log, random = Math.random, keyNamed, onChange, losses } = this.#dependencies;
    const zone: FollowedZone = new FollowedZone(plan, fetched, {
      clock,
      log,
      random,
      losses,
      turns: this.#turns,
      key: plan.key && keyNamed?.(plan.key),
      // A catalog that breaks the rules must change nothing (RFC 9432 section 5.1).
      judge: plan.catalog && ((names) => void readCatalog(names)),
      onChange: () => {
        this.#members.follow(zone);
        onChange(plan.origin);
      },
    });
    return zone;
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    query.forbidStoring();
    const zone = this.#findZone(query.key);
    if (zone === undefined) return refuseIfLast(await next(query), 'secondary');
    if (query.header.opcode === OPCODE.NOTIFY) return this.#notified(query, zone);
    const { type } = query.question;
    if (type === TYPE.AXFR || type === TYPE.IXFR) return { kind: 'refused' };
    const { served } = zone;
    if (served === undefined) return { kind: 'servfail' };
    const answer = await lookUpInZone(served, query, this.#dependencies.chain, { rules: this.#rules });
    const isMissing =
      answer.answers.length === 0 && (answer.result === 'nxdomain' || answer.result === 'nonterminal');
    if (isMissing && isWithinAny(query.key, this.#fallthrough)) return next(query);
    return presentZoneAnswer(answer, zone.isStale(query.key));
  }

  /** Only a primary server may make us ask: others could make us ask all the time. */
  #notified(query: Query, zone: FollowedZone): Answer {
    const { origin, primaries } = zone.plan;
    const address = query.dependOnClient().address.replace(/^::ffff:(?=\d+\.)/, '');
    if (!primaries.some((primary) => primary.address === address))
      return dropNotify(query, origin, this.#notifies);
    this.#notifies.note(`Notify from ${address} for ${origin}: checking transfer`);
    zone.notified();
    return { ...EMPTY_ANSWER, authoritative: true };
  }

  #findZone(name: NameKey): FollowedZone | undefined {
    return findClosest(name, (at) => this.#zoneNamed(at));
  }
}
