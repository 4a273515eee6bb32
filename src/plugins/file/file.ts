/**
 * Answers from zone files, and follows their changes.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { ItemFence } from '../../base/item-fence.ts';
import type { Log } from '../../base/log.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Chain, Handler, Next } from '../../chain/handler.ts';
import { isWithinAny, namesWithin } from '../../chain/match.ts';
import type { Query } from '../../chain/query.ts';
import { replyOf } from '../../chain/response.ts';
import { EMPTY_ANSWER } from '../../chain/whole-answer.ts';
import { parentOf } from '../../wire/name.ts';
import { type NameKey, type Question, RCODE, TYPE } from '../../wire/types.ts';
import { type FileAnswer, FileLookUp } from './look-up.ts';
import type { FileOptions, FileZone } from './options.ts';
import { readZone, type ZoneReading } from './read-zone.ts';
import type { ZoneNames } from './zone-names.ts';

export interface FileDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** The whole server, for aliases that leave a zone. */
  readonly chain: Chain;
  /** Whether records of `$GENERATE` have the TTL that CoreDNS gives them. Default: no. */
  readonly isStrict?: boolean;
}

interface FollowedZone {
  readonly plan: FileZone;
  names: ZoneNames | undefined;
  /** Modification time of the file that was read last, in milliseconds since the epoch. */
  modified: number;
  timer: Timer | undefined;
}

/** Reason of the answer at the end of the chain, if this handler is the last one. */
const NO_NEXT_PLUGIN = 'plugin/file: no next plugin found';
/** Maximum number of aliases that lead from one zone to another. */
const MAX_DEPTH = 8;

export class File {
  readonly handler: Handler;
  readonly #dependencies: FileDependencies;
  readonly #fence: ItemFence;
  readonly #zones: ReadonlyMap<NameKey, FollowedZone>;
  readonly #fallthrough: ReadonlySet<NameKey>;
  #isStopped = false;

  constructor({ zones, fallthrough }: FileOptions, dependencies: FileDependencies) {
    this.#dependencies = dependencies;
    const { clock, log } = dependencies;
    this.#fence = new ItemFence({ source: 'zone-file', clock, log });
    this.#zones = new Map(
      zones.map((plan) => [plan.origin, { plan, names: undefined, modified: 0, timer: undefined }]),
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
    for (const zone of this.#zones.values()) {
      this.#read(zone, undefined);
      this.#lookAgain(zone);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const { timer } of this.#zones.values()) timer?.cancel();
  }

  #lookAgain(zone: FollowedZone): void {
    const { clock } = this.#dependencies;
    const { reload } = zone.plan;
    if (reload === 0 || this.#isStopped) return;
    zone.timer = clock.after(reload, () => {
      this.#reload(zone);
      this.#lookAgain(zone);
    });
  }

  #reload(zone: FollowedZone): void {
    const { log } = this.#dependencies;
    const { origin, path } = zone.plan;
    const reading = this.#read(zone, zone.names?.serial);
    if (reading.kind === 'missing')
      log.error(`plugin/file: Failed to open zone "${origin}" in "${path}": ${reading.reason}`);
    else if (reading.kind === 'faulty') log.error(`plugin/file: Parsing zone "${origin}": ${reading.reason}`);
    else if (reading.kind === 'read')
      log.info(
        `plugin/file: Successfully reloaded zone "${origin}" in "${path}" with ${reading.names.serial} SOA serial`,
      );
  }

  /** @param serial the serial of an unchanged zone */
  #read(zone: FollowedZone, serial: number | undefined): ZoneReading {
    const { isStrict } = this.#dependencies;
    const { path } = zone.plan;
    const reading = this.#fence.take(
      () => path,
      () => readZone(zone.plan, { serial, modified: zone.modified }, isStrict),
    ) ?? { kind: 'faulty', reason: `file ${JSON.stringify(path)} cannot be read` };
    if (reading.kind === 'missing') this.#fence.count('unreadable');
    if (reading.kind === 'faulty') this.#fence.count('malformed');
    if (reading.kind !== 'read') return reading;
    zone.names = reading.names;
    zone.modified = reading.modified;
    return reading;
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    query.forbidStoring();
    const zone = this.#zoneOf(query.key);
    if (zone === undefined) return refuseIfLast(await next(query));
    const { type } = query.question;
    if (type === TYPE.AXFR || type === TYPE.IXFR) return { kind: 'refused' };
    if (zone.names === undefined) return { kind: 'servfail' };
    const answer = await this.#lookUp(zone.names, query);
    const isMissing =
      answer.answers.length === 0 && (answer.result === 'nxdomain' || answer.result === 'nonterminal');
    return isMissing && isWithinAny(query.key, this.#fallthrough) ? next(query) : present(answer);
  }

  async #lookUp(names: ZoneNames, query: Query): Promise<FileAnswer> {
    const isSigned = query.edns?.dnssecOk === true;
    const lookUp = new FileLookUp(names, { question: query.question, isSigned }, async (question) =>
      query.depth >= MAX_DEPTH ? { result: 'servfail', answers: [] } : this.#elsewhere(query, question),
    );
    return lookUp.answer();
  }

  async #elsewhere(query: Query, question: Question): Promise<Pick<FileAnswer, 'result' | 'answers'>> {
    const answer = await this.#dependencies.chain(query.about(question));
    if (answer.kind === 'drop') return { result: 'success', answers: [] };
    const { rcode = RCODE.NOERROR, answers = [] } = replyOf(answer);
    if (rcode === RCODE.NXDOMAIN) return { result: 'nxdomain', answers };
    if (rcode === RCODE.SERVFAIL) return { result: 'servfail', answers };
    return { result: rcode === RCODE.NOERROR && answers.length === 0 ? 'nodata' : 'success', answers };
  }

  #zoneOf(name: NameKey): FollowedZone | undefined {
    for (let at: NameKey | undefined = name; at !== undefined; at = parentOf(at)) {
      const zone = this.#zones.get(at);
      if (zone !== undefined) return zone;
    }
    return undefined;
  }
}

/** An authoritative server asks no upstream: it refuses names outside its zones. */
function refuseIfLast(answer: Answer): Answer {
  return answer.kind === 'servfail' && answer.reason === NO_NEXT_PLUGIN ? { kind: 'refused' } : answer;
}

function present({ result, answers, authorities, additionals }: FileAnswer): Answer {
  if (result === 'servfail' && answers.length === 0) return { kind: 'servfail' };
  return {
    ...EMPTY_ANSWER,
    rcode: result === 'nxdomain' ? RCODE.NXDOMAIN : result === 'servfail' ? RCODE.SERVFAIL : RCODE.NOERROR,
    authoritative: result !== 'delegation' || answers.length > 0,
    ...{ answers, authorities, additionals },
  };
}
