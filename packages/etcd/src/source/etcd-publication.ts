/**
 * Names of keys in the answer table.
 *
 * A name's node has the answers that depend only on the keys at it and below it. Answers that depend on other names, on other
 * servers or on the time are left to the chain, as are names with very many keys and rare types.
 */
import { encodeName, isWithin, toKey } from '@portolan/dns/name.ts';
import { type AbsoluteName, CLASS, type NameKey, RCODE, TYPE } from '@portolan/dns/types.ts';
import type { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Steps } from '@portolan/kernel/base/steps.ts';
import { writeAnswerBody } from '@portolan/kernel/table/answer-body.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import type {
  AnswerBody,
  NameNode,
  PublicationId,
  ZoneId,
  ZoneSettings,
} from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { toZoneSettings, type Zone } from '@portolan/kernel/zone/zone.ts';
import { type KeyNode, type KeyTree, NO_NODE } from './names/key-tree.ts';
import { namesBelow, publishableName } from './names/publishable-names.ts';
import {
  encodePath,
  nameOfPath,
  pathOfName,
  type ServiceLookup,
  type ServiceNames,
} from './names/services.ts';
import { Evaluation } from './rules/evaluation.ts';
import { isReverseZone, type ZoneRules } from './rules/rules.ts';

export interface EtcdZone {
  readonly zone: Zone;
  /** The result for a name without keys: it does not exist, the next publication is tried, or the chain is asked. */
  readonly missing: 'deny' | 'next' | 'ask';
  readonly any: NonNullable<ZoneSettings['any']>;
}

export interface EtcdPublicationOptions {
  readonly table: TableWriter;
  readonly names: ServiceNames;
  readonly rules: ZoneRules;
  readonly zones: readonly EtcdZone[];
  /** The counter for hits, 16 bits. */
  readonly outcome: number;
  /** Whether etcd has lost a key at a node or below it. */
  readonly isStale: (node: KeyNode) => boolean;
  readonly guard: ItemGuard;
  readonly log: Log;
}

interface PublishedEtcdZone {
  readonly id: ZoneId;
  readonly zone: Zone;
  readonly apex: NameKey;
  /** Labels of the apex. */
  readonly depth: number;
  readonly settings: ZoneSettings;
  /** Types that its nodes answer. */
  readonly types: readonly number[];
}

/** Types that the nodes of a zone leave to the chain: their rules use only the exact key, or names never have them. */
export const UNPUBLISHED_TYPES: ReadonlySet<number> = new Set([
  TYPE.SOA,
  TYPE.CNAME,
  TYPE.MX,
  TYPE.NS,
  TYPE.PTR,
]);

const FORWARD_TYPES = [TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.SRV];
const REVERSE_TYPES = [TYPE.PTR];
/** The chain answers names with more keys. */
const MAX_KEYS = 64;
const NO_ANSWERS: ReadonlyMap<number, AnswerBody> = new Map();

export class EtcdPublication {
  readonly id: PublicationId;
  readonly #options: EtcdPublicationOptions;
  readonly #tree: KeyTree;
  /** Zones with more labels first. */
  readonly #zones: readonly PublishedEtcdZone[];
  #isFull = false;

  constructor(options: EtcdPublicationOptions) {
    const { table, names, zones } = options;
    this.#options = options;
    this.#tree = names.tree;
    this.id = table.definePublication();
    this.#zones = zones.map((zone) => this.#defineZone(zone)).sort((one, other) => other.depth - one.depth);
    for (const zone of this.#zones) this.#put(this.#emptyNode(zone.apex, zone, 'ask'));
  }

  /** @param isWhole whether names without keys may be denied; otherwise the chain answers them */
  becomeKnown(isWhole: boolean): void {
    const { table } = this.#options;
    for (const { id, settings } of this.#zones)
      table.changeZone(id, { ...settings, known: true, ...(!isWhole && { missing: 'ask' }) });
  }

  /** The zone that contains a name. */
  findZone(name: NameKey): Zone | undefined {
    return this.#zones.find(({ apex }) => isWithin(name, apex))?.zone;
  }

  /** Whether a name has no keys left and is not an apex. */
  isGone(path: readonly string[]): boolean {
    return (
      this.#tree.find(encodePath(path)) === NO_NODE && !this.#zones.some(({ depth }) => depth === path.length)
    );
  }

  /** Publishes a name, or removes its node. @param path of a key, or of a name above one */
  publish(path: readonly string[]): void {
    const name = publishableName(path);
    if (name !== undefined) this.#publishAt(this.#tree.find(encodePath(path)), name);
  }

  #publishAt(node: KeyNode, name: NameKey): void {
    const zone = this.#zones.find(({ apex }) => isWithin(name, apex));
    if (zone === undefined) return;
    if (node !== NO_NODE) this.#put(this.#tryCompile(node, name, zone));
    else if (name === zone.apex) this.#put(this.#emptyNode(name, zone, 'ask'));
    else this.#options.table.remove(encodeName(name), zone.id);
  }

  /** Publishes all names, parents before children, one in each step. */
  *publishAll(): Steps<void> {
    const tops = this.#zones.filter(
      ({ apex }) => !this.#zones.some((other) => other.apex !== apex && isWithin(apex, other.apex)),
    );
    for (const { apex } of tops) {
      const top = this.#tree.find(encodePath(pathOfName(apex)));
      for (const { node, name } of namesBelow(this.#tree, top)) {
        if (name !== undefined) this.#publishAt(node, name);
        yield;
      }
    }
  }

  /** Names affected by a change of a key, the name of the highest zone first. */
  listAffectedPaths(key: readonly string[]): readonly (readonly string[])[] {
    const name = nameOfPath(key);
    if (name === undefined) return [];
    const within = this.#zones.filter(({ apex }) => isWithin(toKey(name), apex));
    const top = within.at(-1)?.depth;
    if (top === undefined) return [];
    return Array.from({ length: key.length - top + 1 }, (_, index) => key.slice(0, top + index));
  }

  /** Call it when a change is complete. */
  changed(): void {
    const { table } = this.#options;
    table.publicationChanged(this.id);
    table.collect();
  }

  #defineZone({ zone, missing, any }: EtcdZone): PublishedEtcdZone {
    const { table } = this.#options;
    const state = { known: false, askWildcards: true, any };
    const settings = { ...toZoneSettings(zone, state), missing, cachesOpenTypes: true };
    const id = table.defineZone(settings, this.id);
    const types = isReverseZone(zone.apex) ? REVERSE_TYPES : FORWARD_TYPES;
    return { id, zone, apex: zone.apex, depth: pathOfName(zone.apex).length, settings, types };
  }

  /** Leaves a name to the chain if compiling its answers fails. */
  #tryCompile(node: KeyNode, name: NameKey, zone: PublishedEtcdZone): NameNode {
    const compiled = this.#options.guard.take(
      () => name,
      () => this.#compile(node, name, zone),
    );
    return compiled ?? this.#emptyNode(name, zone, 'ask');
  }

  #compile(node: KeyNode, name: NameKey, zone: PublishedEtcdZone): NameNode {
    const { names, rules } = this.#options;
    const isBad = this.#tree.badCount(node) > 0 && !rules.skipsBadValues;
    if (isBad || this.#tree.count(node) > MAX_KEYS) return this.#emptyNode(name, zone, 'ask');
    const services = names.remembering(name, node);
    const isStale = this.#options.isStale(node);
    const answers = new Map<number, AnswerBody>();
    let isWhole = zone.types === FORWARD_TYPES;
    for (const type of zone.types) {
      const body = this.#answer(name, type, zone, services);
      if (body === 'ask') isWhole = false;
      else if (body !== 'none') answers.set(type, isStale ? { ...body, isStale } : body);
    }
    return { ...this.#emptyNode(name, zone, isWhole ? 'nodata' : 'ask'), answers };
  }

  #answer(
    name: AbsoluteName,
    type: number,
    { zone }: PublishedEtcdZone,
    services: ServiceLookup,
  ): AnswerBody | 'none' | 'ask' {
    const evaluation = new Evaluation(services);
    const answer = this.#options.rules.answer(evaluation, zone.apex, { name, type });
    if (evaluation.usesOthers || evaluation.isTimed || evaluation.wanted.length > 0) return 'ask';
    if (answer.kind === 'nodata') return 'none';
    if (answer.kind !== 'records') return 'ask';
    const { records: answers, additionals } = answer;
    const reply = { rcode: RCODE.NOERROR, authoritative: true, answers, authorities: [], additionals };
    return writeAnswerBody({ name, type, class: CLASS.IN }, reply)?.body ?? 'ask';
  }

  #emptyNode(name: NameKey, { id: zone }: PublishedEtcdZone, otherTypes: NameNode['otherTypes']): NameNode {
    const { outcome } = this.#options;
    return {
      name: encodeName(name),
      zone,
      below: { kind: 'complete' },
      otherTypes,
      outcome,
      answers: NO_ANSWERS,
    };
  }

  #put(node: NameNode): void {
    try {
      this.#options.table.put(node);
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      if (!this.#isFull) this.#options.log.error('names of etcd not published, the answer table is full', {});
      this.#isFull = true;
    }
  }
}
