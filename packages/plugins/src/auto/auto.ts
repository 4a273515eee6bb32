/**
 * Answers from all zone files of a folder, and follows the folder: zones come and go with their files.
 */
import { findClosest } from '@portolan/dns/name.ts';
import { type NameKey, TYPE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Losses, LossGuard, LossMark } from '@portolan/kernel/base/losses.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { readZone } from '../file/read-zone.ts';
import { findZoneAnswerRules, type ZoneAnswerRules } from '../file/zone-answer-rules.ts';
import { lookUpInZone, presentZoneAnswer, refuseIfLast } from '../file/zone-answers.ts';
import type { ZoneNames } from '../file/zone-names.ts';
import { shareVersions, type ZoneVersions } from '../file/zone-versions.ts';
import type { TransferSource } from '../transfer/transfer-source.ts';
import type { AutoOptions } from './options.ts';
import { type FoundZone, findZones } from './zone-folder.ts';

export interface AutoDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** The whole server, for aliases that leave a zone. */
  readonly chain: Chain;
  /** The deviations in which answers are those of CoreDNS. */
  readonly restored: RestoredDeviations;
  /** Called when a zone is added or changed. */
  readonly onChange: (origin: NameKey) => void;
  /** Judges what changed files, and the folder, lack. Default: it goes at once. */
  readonly losses?: Losses | undefined;
  /** Called when a zone is gone. */
  readonly onRemove: () => void;
}

interface ServedZone {
  readonly versions: RefCounted<ZoneVersions>;
  readonly path: string;
  readonly modified: number;
  /** Its file is gone, together with many others: what it is kept under. 0: the file is there. */
  readonly mark: LossMark;
}

export class Auto implements TransferSource {
  readonly handler: Handler;
  readonly #options: AutoOptions;
  readonly #dependencies: AutoDependencies;
  readonly #guard: ItemGuard;
  readonly #origins: ReadonlySet<NameKey>;
  readonly #rules: ZoneAnswerRules;
  readonly #zones = new Map<NameKey, ServedZone>();
  readonly #losses: LossGuard | undefined;
  /** Faults of the last look, so that each is logged once. */
  #faults: ReadonlySet<string> = new Set();
  #timer: Timer | undefined;
  #isStopped = false;
  /** Until this one has started. */
  #former: Auto | undefined;

  /** @param former whose versions of the same files it goes on with */
  constructor(options: AutoOptions, dependencies: AutoDependencies, former?: Auto) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#rules = findZoneAnswerRules(dependencies.restored);
    const { clock, log } = dependencies;
    this.#guard = new ItemGuard({ source: 'zone-file', clock, log });
    this.#origins = new Set(options.zones);
    this.#losses = dependencies.losses?.guard(
      { kind: 'zone folder', subject: options.directory ?? '' },
      { count: () => countNames(this.#stale()), remove: (mark) => this.#removeStale(mark) },
    );
    this.#former = former;
    this.handler = {
      name: 'auto',
      role: 'other',
      questions: namesWithin(this.#origins),
      answers: 'unchanged',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  start(): void {
    this.#takeOver();
    this.#look();
    this.#lookAgain();
  }

  origins(): Iterable<NameKey> {
    return this.#zones.keys();
  }

  zoneAt(origin: NameKey): ZoneNames | undefined {
    return this.#zones.get(origin)?.versions.value.current;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#losses?.stop();
    for (const { versions } of this.#zones.values()) void versions.release();
  }

  #takeOver(): void {
    const former = this.#former;
    this.#former = undefined;
    if (former === undefined || former.#options.directory !== this.#options.directory) return;
    for (const [origin, { versions, path }] of former.#zones)
      this.#zones.set(origin, { versions: this.#use(versions, origin), path, modified: 0, mark: 0 });
  }

  #use(versions: RefCounted<ZoneVersions>, origin: NameKey): RefCounted<ZoneVersions> {
    versions.value.changed = () => this.#dependencies.onChange(origin);
    return versions.retain();
  }

  #lookAgain(): void {
    const { reload } = this.#options;
    if (reload === 0 || this.#isStopped) return;
    this.#timer = this.#dependencies.clock.after(reload, () => {
      this.#look();
      this.#lookAgain();
    });
  }

  #look(): void {
    const { log } = this.#dependencies;
    const { zones, faults } = findZones(this.#options);
    const all = new Set<string>();
    const note = (fault: string): void => {
      if (!this.#faults.has(fault)) log.warn(`plugin/auto: ${fault}`);
      all.add(fault);
    };
    for (const fault of faults) note(fault);
    for (const zone of zones) {
      const fault = this.#read(zone);
      if (fault !== undefined) note(fault);
    }
    this.#faults = all;
    const found = new Set(zones.map(({ origin }) => origin));
    this.#lose([...this.#zones].filter(([origin, { mark }]) => mark === 0 && !found.has(origin)));
    this.#losses?.settle();
  }

  /** @param gone zones without a file */
  #lose(gone: readonly (readonly [NameKey, ServedZone])[]): void {
    const present = () => countNames([...this.#zones.values()].filter(({ mark }) => mark === 0));
    const mark = this.#losses?.judge(countNames(gone.map(([, zone]) => zone)), present) ?? 0;
    for (const [origin, zone] of gone)
      if (mark === 0) this.#remove(origin);
      else this.#zones.set(origin, { ...zone, mark });
  }

  #stale(): readonly ServedZone[] {
    return [...this.#zones.values()].filter(({ mark }) => mark !== 0);
  }

  #removeStale(mark: LossMark): void {
    for (const [origin, zone] of this.#zones) if (zone.mark === mark) this.#remove(origin);
  }

  #remove(origin: NameKey): void {
    void this.#zones.get(origin)?.versions.release();
    this.#zones.delete(origin);
    this.#dependencies.onRemove();
    this.#dependencies.log.info(`plugin/auto: Deleting zone \`${origin}'`);
  }

  /** @returns a fault; a zone that was served before stays as it was */
  #read({ origin, path }: FoundZone): string | undefined {
    const { log, restored, losses } = this.#dependencies;
    const before = this.#zones.get(origin);
    const known = { serial: before?.versions.value.current?.serial, modified: before?.modified ?? 0 };
    const zone = { origin, path, reload: 0, reloadByMtime: false };
    const reading = this.#guard.take(
      () => path,
      () => readZone(zone, known, restored),
    ) ?? { kind: 'faulty', reason: `file ${JSON.stringify(path)} cannot be read` };
    if (reading.kind === 'missing') {
      this.#guard.count('unreadable');
      return `Opening ${path} failed: ${reading.reason}`;
    }
    if (reading.kind === 'faulty') {
      this.#guard.count('malformed');
      return `Parse zone \`${origin}': ${reading.reason}`;
    }
    if (reading.kind === 'unchanged') {
      if (before !== undefined && before.mark !== 0) this.#zones.set(origin, { ...before, mark: 0 });
      return undefined;
    }
    const { names, modified, warnings } = reading;
    for (const { text, remedy } of warnings) log.warn(`plugin/auto: Zone "${origin}": ${text}. ${remedy}`);
    const versions =
      before?.versions ?? this.#use(shareVersions(losses, { kind: 'zone file', subject: path }), origin);
    versions.value.replace(names);
    this.#zones.set(origin, { versions, path, modified, mark: 0 });
    if (before === undefined) log.info(`plugin/auto: Inserting zone \`${origin}' from: ${path}`);
    else
      log.info(
        `plugin/file: Successfully reloaded zone "${origin}" in "${path}" with ${names.serial} SOA serial`,
      );
    this.#dependencies.onChange(origin);
    return undefined;
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    const zone = isWithinAny(query.key, this.#origins) ? this.#findZone(query.key) : undefined;
    if (zone === undefined) return refuseIfLast(await next(query), 'auto');
    const { type } = query.question;
    if (type === TYPE.AXFR || type === TYPE.IXFR) return { kind: 'refused' };
    const { chain } = this.#dependencies;
    const { served } = zone.versions.value;
    if (served === undefined) return { kind: 'servfail' };
    const answer = await lookUpInZone(served, query, chain, { rules: this.#rules });
    return presentZoneAnswer(answer, zone.mark !== 0 || zone.versions.value.isStale(query.key));
  }

  #findZone(name: NameKey): ServedZone | undefined {
    return findClosest(name, (at) => this.#zones.get(at));
  }
}

function countNames(zones: readonly ServedZone[]): number {
  return zones.reduce((sum, { versions }) => sum + versions.value.names, 0);
}
