/**
 * Answers that plugins publish to readers, as nodes of a publication of their own. Readers leave all else in its zones to the chain, so
 * a publication may lack any answer.
 */
import { encodeName, findClosest, parseName, ROOT, tryParseKey } from '@portolan/dns/name.ts';
import { CLASS, type NameKey } from '@portolan/dns/types.ts';
import {
  type HandlerCount,
  type NamePublication,
  PUBLICATIONS,
  type PublishedAnswer,
} from '@portolan/plugin';
import type { Log } from '../../base/log.ts';
import type { WholeAnswer } from '../../chain/answer.ts';
import type { AnswerTtlBounds, Handler } from '../../chain/handler.ts';
import { isWithinAny, type Match, type Questions } from '../../chain/match.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import { EMPTY_ANSWER, isReadAsStored, toWholeAnswer } from '../../chain/whole-answer.ts';
import { checkAnswer, PluginAnswerError } from '../../contract/checked-answer.ts';
import { type OwnedService, ownService } from '../../contract/owned-service.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import { TableFullError } from '../../table/arena.ts';
import type { AnswerBody, PublicationId, ZoneId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { toZoneSettings } from '../../zone/zone.ts';

/** They are put without a pause: some 30 ms. */
const MAX_NAMES = 10_000;
const MAX_ZONES = 1_000;
/** RFC 6895 section 3.1. Readers know no meta-types. */
const FIRST_META_TYPE = 128;

export interface PublishedAnswersDependencies {
  readonly table: TableWriter;
  readonly log: Log;
  /** Its handlers are in order; there are none until it is complete. No function: plugins would keep what is in its scope. */
  readonly block: { readonly handlers: readonly Handler[] };
}

/** The service of one plugin: what it publishes ends with it. */
export function offerPublications(dependencies: PublishedAnswersDependencies): OwnedService {
  return ownService(PUBLICATIONS, ({ name }) => {
    const opened: PublishedAnswers[] = [];
    return {
      value: {
        open(zones, counts = []) {
          const made = new PublishedAnswers({ plugin: name, zones, counts }, dependencies);
          opened.push(made);
          return made;
        },
      },
      stop() {
        for (const each of opened) each.drop();
      },
    };
  });
}

/** A handler that publishes, as the views see it: questions for what it publishes need no ask rules. @throws TypeError */
export function publishNames(handler: Handler): Handler {
  const { publishes, questions, name } = handler;
  if (publishes === undefined) return handler;
  if (!(publishes instanceof PublishedAnswers))
    throw new TypeError(`plugin/${name}: publishes is not from context.use(PUBLICATIONS)`);
  return {
    ...handler,
    role: 'publisher',
    publication: publishes.id,
    further: [],
    unpublished: questionsOutside(questions, publishes.zones),
  };
}

/** The questions for names outside the zones, and those that depend on more than name and type. */
function questionsOutside(questions: Questions, zones: ReadonlySet<NameKey>): Questions {
  const isOutside = ({ name, ednsOptions, byFamily, dnssecOk, maxLabels }: Match): boolean => {
    const dependsOnMore = ednsOptions ?? byFamily ?? dnssecOk ?? maxLabels;
    if (dependsOnMore !== undefined) return true;
    const within = name.kind === 'any' ? ROOT : name.name;
    return !isWithinAny(within, zones);
  };
  return {
    includes: (name, type) => questions.includes(name, type),
    *matches() {
      for (const match of questions.matches()) if (isOutside(match)) yield match;
    },
  };
}

/** Zones that never answer by themselves, so their SOA record is never seen. */
function zoneSettings(apex: NameKey) {
  const soa = {
    kind: 'SOA',
    primary: parseName('published.'),
    mailbox: parseName('published.'),
    serial: 1,
    refresh: 7200,
    retry: 1800,
    expire: 86_400,
    minimum: 0,
  } as const;
  const zone = { apex, soa, negativeTtl: 0, authoritativeNxdomain: true };
  const settings = toZoneSettings(zone, { known: true, askWildcards: false });
  return { ...settings, missing: 'ask', cachesOpenTypes: true } as const;
}

type AnswersByType = Map<number, AnswerBody>;
const NO_ANSWERS: AnswersByType = new Map();

interface OpenedPublication {
  /** Its name. */
  readonly plugin: string;
  readonly zones: ReadonlySet<NameKey>;
  readonly counts: readonly HandlerCount[];
}

export class PublishedAnswers implements NamePublication {
  readonly id: PublicationId;
  readonly zones: ReadonlySet<NameKey>;
  readonly counts: readonly HandlerCount[];
  readonly #plugin: string;
  readonly #dependencies: PublishedAnswersDependencies;
  /** By their apexes. */
  readonly #zones = new Map<NameKey, ZoneId>();
  #names: ReadonlySet<NameKey> = new Set();

  /** @throws TypeError for too many zones, or what is no name in lower case; TableFullError */
  constructor({ plugin, zones, counts }: OpenedPublication, dependencies: PublishedAnswersDependencies) {
    const { table } = dependencies;
    if (zones.size > MAX_ZONES) throw new TypeError(`plugin/${plugin}: more than ${MAX_ZONES} zones`);
    const wrong = [...zones].find((zone) => tryParseKey(zone) !== zone);
    if (wrong !== undefined) throw new TypeError(`plugin/${plugin}: not a zone in lower case: ${wrong}`);
    this.zones = new Set(zones);
    this.counts = [...counts];
    this.#plugin = plugin;
    this.#dependencies = dependencies;
    this.id = table.definePublication();
    for (const zone of zones) this.#zones.set(zone, table.defineZone(zoneSettings(zone), this.id));
    for (const zone of zones) this.#put(zone, NO_ANSWERS);
  }

  /** @throws PluginAnswerError; Error because the block is not complete */
  replace(answers: Iterable<PublishedAnswer>): boolean {
    const compiled = this.#compile(answers);
    if (compiled === undefined) return this.#giveUp(`more than ${MAX_NAMES} names`);
    try {
      for (const [name, bodies] of compiled) this.#put(name, bodies);
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#names = new Set([...this.#names, ...compiled.keys()]);
      return this.#giveUp('the answer table is full');
    }
    this.#removeAllBut(compiled);
    return true;
  }

  /** Call it when no view shows it. */
  drop(): void {
    for (const _ of this.#dependencies.table.dropPublication(this.id));
  }

  /** Leaves all names to the chain. */
  #giveUp(reason: string): false {
    this.#dependencies.log.warn(`plugin/${this.#plugin}: reader threads ask for all names`, { reason });
    this.#removeAllBut(new Map());
    return false;
  }

  #removeAllBut(names: ReadonlyMap<NameKey, unknown>): void {
    const { table } = this.#dependencies;
    for (const name of this.#names) {
      if (names.has(name)) continue;
      table.remove(encodeName(name), this.#findZone(name));
      // An apex stays, so that names below it are asked for.
      if (this.zones.has(name)) this.#put(name, NO_ANSWERS);
    }
    this.#names = new Set(names.keys());
    table.publicationChanged(this.id);
    table.collect();
  }

  /** @returns undefined for too many names */
  #compile(answers: Iterable<PublishedAnswer>): ReadonlyMap<NameKey, AnswersByType> | undefined {
    const handlers = this.#dependencies.block.handlers;
    const place = handlers.findIndex(({ publishes }) => publishes === this);
    if (place < 0) throw new Error('no handler publishes it yet: call replace in start or later');
    const caches = handlers.slice(0, place).filter(({ role }) => role === 'cache');
    const compiled = new Map<NameKey, AnswersByType>();
    for (const answer of answers) {
      const { name, type } = answer;
      const whole = this.#check(answer);
      const known = compiled.get(name);
      if (known === undefined && compiled.size >= MAX_NAMES) return undefined;
      const bodies: AnswersByType = known ?? new Map();
      compiled.set(name, bodies);
      const body = compileBody(answer, boundTtls(whole, answer, caches));
      // The chain answers what readers would give in another way.
      if (body !== undefined) bodies.set(type, body);
    }
    return compiled;
  }

  #check({ name, type, records, additionals = [], authoritative }: PublishedAnswer): WholeAnswer {
    if (tryParseKey(name) !== name) throw new PluginAnswerError(`not a name in lower case: ${name}`);
    if (this.#findZone(name) === undefined) throw new PluginAnswerError(`not within the zones: ${name}`);
    if (!Number.isInteger(type) || type < 1 || type > 0xffff)
      throw new PluginAnswerError(`not a type: ${type}`);
    const checked = checkAnswer({ kind: 'records', records, additionals, authoritative });
    const whole = checked.kind === 'drop' ? EMPTY_ANSWER : toWholeAnswer(checked);
    if (whole.answers.length === 0) throw new PluginAnswerError(`no records for ${name}`);
    return whole;
  }

  #findZone(name: NameKey): ZoneId | undefined {
    return findClosest(name, (at) => this.#zones.get(at));
  }

  /** @throws TableFullError */
  #put(name: NameKey, answers: AnswersByType): void {
    const zone = this.#findZone(name);
    if (zone === undefined) return;
    this.#dependencies.table.put({
      name: encodeName(name),
      zone,
      below: { kind: 'complete' },
      otherTypes: 'ask',
      outcome: CHAIN_OUTCOME.others,
      answers,
    });
  }
}

function compileBody({ name, type }: PublishedAnswer, whole: WholeAnswer): AnswerBody | undefined {
  if (type >= FIRST_META_TYPE && type <= 0xff) return undefined;
  const body = writeAnswerBody({ name, type, class: CLASS.IN }, whole)?.body;
  return body !== undefined && isReadAsStored(whole, body.rotation !== undefined) ? body : undefined;
}

/** The TTLs that an answer has behind the caches in front of its plugin. */
function boundTtls(
  whole: WholeAnswer,
  { name, type }: PublishedAnswer,
  caches: readonly Handler[],
): WholeAnswer {
  const bounds = caches.flatMap((cache): readonly AnswerTtlBounds['success'][] =>
    cache.role === 'cache' && cache.ttlBounds !== undefined && cache.questions.includes(name, type)
      ? [cache.ttlBounds.success]
      : [],
  );
  if (bounds.length === 0) return whole;
  const bound = (ttl: number) =>
    bounds.reduceRight((bounded, { minTtl, maxTtl }) => Math.min(Math.max(bounded, minTtl), maxTtl), ttl);
  const change = (records: WholeAnswer['answers']) =>
    records.map((record) => ({ ...record, ttl: bound(record.ttl) }));
  return { ...whole, answers: change(whole.answers), additionals: change(whole.additionals) };
}
