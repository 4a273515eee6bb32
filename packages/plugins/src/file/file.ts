/**
 * Answers from zone files, and follows their changes.
 */
import { findClosest } from '@portolan/dns/name.ts';
import { type NameKey, OPCODE, TYPE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Losses } from '@portolan/kernel/base/losses.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { TransferSource } from '../transfer/transfer-source.ts';
import { NotifyLog } from './notify-log.ts';
import type { FileOptions, FileZone } from './options.ts';
import { readZone, type ZoneReading } from './read-zone.ts';
import { findZoneAnswerRules, type ZoneAnswerRules } from './zone-answer-rules.ts';
import { dropNotify, lookUpInZone, presentZoneAnswer, refuseIfLast } from './zone-answers.ts';
import type { ZoneNames } from './zone-names.ts';
import { shareVersions, type ZoneVersions } from './zone-versions.ts';

export interface FileDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** The whole server, for aliases that leave a zone. */
  readonly chain: Chain;
  /** The deviations in which answers are those of CoreDNS. */
  readonly restored: RestoredDeviations;
  /** Judges what a changed file lacks. Default: it goes at once. */
  readonly losses?: Losses | undefined;
  /** Called when a zone has changed: stored answers are then out of date. Default: not called. */
  readonly onChange?: ((origin: NameKey) => void) | undefined;
  /** Whether the block rotates the addresses of answers; known once it is complete. */
  readonly rotates: () => boolean;
}

interface ZoneInFile {
  readonly plan: FileZone;
  readonly versions: RefCounted<ZoneVersions>;
  /** Modification time of the file that was read last, in milliseconds since the epoch. */
  modified: number;
  timer: Timer | undefined;
}

export class File implements TransferSource {
  readonly handler: Handler;
  readonly #dependencies: FileDependencies;
  readonly #notifies: NotifyLog;
  readonly #guard: ItemGuard;
  readonly #zones: ReadonlyMap<NameKey, ZoneInFile>;
  readonly #fallthrough: ReadonlySet<NameKey>;
  readonly #rules: ZoneAnswerRules;
  #isStopped = false;

  /** @param former whose versions of the same files it goes on with */
  constructor({ zones, fallthrough }: FileOptions, dependencies: FileDependencies, former?: File) {
    this.#dependencies = dependencies;
    this.#rules = findZoneAnswerRules(dependencies.restored);
    const { clock, log, losses } = dependencies;
    this.#guard = new ItemGuard({ source: 'zone-file', clock, log });
    this.#notifies = new NotifyLog(log, clock);
    this.#zones = new Map(
      zones.map((plan) => {
        const source = { kind: 'zone file', subject: plan.path };
        const versions = former?.versionsAt(plan) ?? shareVersions(losses, source);
        return [plan.origin, { plan, versions: versions.retain(), modified: 0, timer: undefined }];
      }),
    );
    this.#fallthrough = new Set(fallthrough);
    this.handler = {
      name: 'file',
      role: 'other',
      questions: namesWithin(new Set(this.#zones.keys())),
      answers: 'unchanged',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  /** Reads the files. Their faults were reported when the Corefile was read. */
  start(): void {
    for (const [origin, zone] of this.#zones) {
      zone.versions.value.changed = () => this.#dependencies.onChange?.(origin);
      this.#read(zone, undefined);
      this.#lookAgain(zone);
    }
  }

  origins(): Iterable<NameKey> {
    return [...this.#zones].flatMap(([origin, { versions }]) =>
      versions.value.current === undefined ? [] : origin,
    );
  }

  zoneAt(origin: NameKey): ZoneNames | undefined {
    return this.#zones.get(origin)?.versions.value.current;
  }

  /** The versions of a file, for the plan that follows; undefined: it has another file for the zone. */
  versionsAt({ origin, path }: FileZone): RefCounted<ZoneVersions> | undefined {
    const known = this.#zones.get(origin);
    return known?.plan.path === path ? known.versions : undefined;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { timer, versions } of this.#zones.values()) {
      timer?.cancel();
      void versions.release();
    }
    this.#notifies.stop();
  }

  #lookAgain(zone: ZoneInFile): void {
    const { clock } = this.#dependencies;
    const { reload } = zone.plan;
    if (reload === 0 || this.#isStopped) return;
    zone.timer = clock.after(reload, () => {
      this.#reload(zone);
      this.#lookAgain(zone);
    });
  }

  #reload(zone: ZoneInFile): void {
    const { log } = this.#dependencies;
    const { origin, path } = zone.plan;
    const reading = this.#read(zone, zone.versions.value.current?.serial);
    if (reading.kind === 'missing')
      log.error(`plugin/file: Failed to open zone "${origin}" in "${path}": ${reading.reason}`);
    else if (reading.kind === 'faulty') log.error(`plugin/file: Parsing zone "${origin}": ${reading.reason}`);
    else if (reading.kind === 'read') {
      for (const { text, remedy } of reading.warnings)
        log.warn(`plugin/file: Zone "${origin}": ${text}. ${remedy}`);
      log.info(
        `plugin/file: Successfully reloaded zone "${origin}" in "${path}" with ${reading.names.serial} SOA serial`,
      );
    }
  }

  /** @param serial the serial of an unchanged zone */
  #read(zone: ZoneInFile, serial: number | undefined): ZoneReading {
    const { restored } = this.#dependencies;
    const { path } = zone.plan;
    const reading = this.#guard.take(
      () => path,
      () => readZone(zone.plan, { serial, modified: zone.modified }, restored),
    ) ?? { kind: 'faulty', reason: `file ${JSON.stringify(path)} cannot be read` };
    if (reading.kind === 'missing') this.#guard.count('unreadable');
    if (reading.kind === 'faulty') this.#guard.count('malformed');
    if (reading.kind !== 'read') return reading;
    zone.versions.value.replace(reading.names);
    zone.modified = reading.modified;
    this.#dependencies.onChange?.(zone.plan.origin);
    return reading;
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    const zone = this.#findZone(query.key);
    if (zone === undefined) return refuseIfLast(await next(query), 'file');
    if (query.header.opcode === OPCODE.NOTIFY) return dropNotify(query, zone.plan.origin, this.#notifies);
    const { type } = query.question;
    if (type === TYPE.AXFR || type === TYPE.IXFR) return { kind: 'refused' };
    const { served } = zone.versions.value;
    if (served === undefined) return { kind: 'servfail' };
    const answer = await lookUpInZone(served, query, this.#dependencies.chain, {
      rules: this.#rules,
      rotates: this.#dependencies.rotates(),
    });
    const isMissing =
      answer.answers.length === 0 && (answer.result === 'nxdomain' || answer.result === 'nonterminal');
    if (isMissing && isWithinAny(query.key, this.#fallthrough)) return next(query);
    return presentZoneAnswer(answer, zone.versions.value.isStale(query.key));
  }

  #findZone(name: NameKey): ZoneInFile | undefined {
    return findClosest(name, (at) => this.#zones.get(at));
  }
}
