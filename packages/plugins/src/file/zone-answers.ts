/**
 * Answers from the names of a zone, for all plugins that serve zones.
 */
import { EXTENDED_ERROR } from '@portolan/dns/extended-error.ts';
import { presentNameAsGo } from '@portolan/dns/go-name.ts';
import { type NameKey, type Question, RCODE, TYPE } from '@portolan/dns/types.ts';
import { type Answer, toReply } from '@portolan/kernel/chain/answer.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import { type ElsewhereAnswer, type FileAnswer, FileLookUp, type FileResult } from './look-up.ts';
import type { NotifyLog } from './notify-log.ts';
import type { ZoneAnswerRules } from './zone-answer-rules.ts';
import type { ZoneNames } from './zone-names.ts';

/** Maximum number of aliases that lead from one zone to another. */
const MAX_DEPTH = 8;

/** A record has a pointer as its owner, ten fixed octets, and data. */
const MIN_RECORD_OCTETS = 12;
/** Octets of the data, for types with data of one size. */
const DATA_OCTETS: ReadonlyMap<number, number> = new Map([
  [TYPE.A, 4],
  [TYPE.AAAA, 16],
]);

/** How answers are cut that are too large for the client. */
export interface CutOptions {
  readonly rules: ZoneAnswerRules;
  /** Whether `loadbalance` would shuffle the addresses, if it saw all of them. Default: no. */
  readonly rotates?: boolean | undefined;
}

/** @param chain the whole server, for aliases that leave the zone */
export async function lookUpInZone(
  names: ZoneNames,
  query: Query,
  chain: Chain,
  { rules, rotates = false }: CutOptions,
): Promise<FileAnswer> {
  query.keepLetters();
  const room = query.roomFor(rules.maxUdpSize);
  const asked = {
    question: query.question,
    isSigned: query.edns?.dnssecOk === true,
    rules,
    maxRecords: Math.floor(room / (MIN_RECORD_OCTETS + (DATA_OCTETS.get(query.question.type) ?? 0))),
    pick: rotates ? (count: number) => Math.floor(Math.random() * count) : undefined,
  };
  const lookUp = new FileLookUp(names, asked, async (question) => {
    if (query.depth >= MAX_DEPTH) return endOfAliases(rules);
    const found = await elsewhere(query, question, chain);
    return rules.passesTruncation ? found : { ...found, isCut: false };
  });
  const answer = await lookUp.answer();
  if (answer.wildcard !== undefined && query.collectsMetadata) {
    query.noteMetadata('zone/wildcard', presentNameAsGo(answer.wildcard));
    // A cache does not know the wildcard.
    query.forbidCaching();
  }
  return answer;
}

/** Aliases that form a loop: the chain so far, as BIND, Knot, NSD and PowerDNS do; CoreDNS fails. */
function endOfAliases({ endsCircles }: ZoneAnswerRules) {
  return { ...NOTHING_ELSEWHERE, result: endsCircles ? 'success' : 'servfail' } as const;
}

async function elsewhere(query: Query, question: Question, chain: Chain): Promise<ElsewhereAnswer> {
  const answer = await chain(query.about(question));
  if (answer.kind === 'drop') return NOTHING_ELSEWHERE;
  const { rcode = RCODE.NOERROR, answers = [], authorities = [], truncated: isCut = false } = toReply(answer);
  // Records that were left out are not missing.
  const isEmpty = answers.length === 0 && !isCut;
  return { result: toFileResult(rcode, isEmpty), answers, authorities, isCut };
}

const NOTHING_ELSEWHERE = { result: 'success', answers: [], authorities: [] } as const;

function toFileResult(rcode: number, isEmpty: boolean): FileResult {
  if (rcode === RCODE.NXDOMAIN) return 'nxdomain';
  if (rcode === RCODE.YXDOMAIN) return 'yxdomain';
  if (rcode === RCODE.SERVFAIL) return 'servfail';
  return rcode === RCODE.NOERROR && isEmpty ? 'nodata' : 'success';
}

/** NOTIFY is for zones that have primary servers: as in CoreDNS, nobody gets a response. */
export function dropNotify(query: Query, origin: NameKey, log: NotifyLog): Answer {
  query.forbidStoring();
  const address = query.sender.address.replace(/^::ffff:(?=\d+\.)/, '');
  log.note(`Dropping notify from ${address} for ${origin}`);
  return { kind: 'drop' };
}

const RCODE_OF: Readonly<Partial<Record<FileResult, number>>> = {
  nxdomain: RCODE.NXDOMAIN,
  yxdomain: RCODE.YXDOMAIN,
  servfail: RCODE.SERVFAIL,
};

/** @param isStale whether the zone has lost the name. Default: no */
export function presentZoneAnswer(
  { result, answers, authorities, additionals, isCut = false }: FileAnswer,
  isStale = false,
): Answer {
  if (result === 'servfail' && answers.length === 0) return { kind: 'servfail' };
  return {
    ...EMPTY_ANSWER,
    rcode: RCODE_OF[result] ?? RCODE.NOERROR,
    authoritative: result !== 'delegation' || answers.length > 0,
    truncated: isCut,
    answers,
    authorities,
    additionals,
    ...(isStale && { extendedError: EXTENDED_ERROR.STALE_ANSWER }),
  };
}

/**
 * An authoritative server asks no upstream: it refuses names outside its zones.
 *
 * @param answer of the handlers behind @param plugin the one that serves zones
 */
export function refuseIfLast(answer: Answer, plugin: string): Answer {
  const isLast = answer.kind === 'servfail' && answer.reason === `plugin/${plugin}: no next plugin found`;
  return isLast ? { kind: 'refused' } : answer;
}
