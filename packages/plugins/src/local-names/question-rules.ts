/**
 * Answers questions by rule before a server is asked. The order is dnsmasq's: reverse names of private addresses, questions of
 * old Windows hosts, domains with an address for all their names, domains of our own, plain names.
 *
 * Known names have been answered before. If a known name lacks the type, the rules answer NODATA, not NXDOMAIN.
 */
import { countLabels, ROOT } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, type RecordData, TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { type Match, NO_QUESTIONS, type Questions } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { type NameScope, NameScopes } from './name-scopes.ts';
import { isPrivate, octetsOfReverseName } from './private-networks.ts';

export type RuleAction =
  /** Forwarded to the servers of the scope, or to the default servers. */
  | { readonly kind: 'forward' | 'default' }
  /** Never forwarded. */
  | { readonly kind: 'local' }
  /** Answers questions for the type of the address. */
  | { readonly kind: 'address'; readonly address: string }
  /** `0.0.0.0` and `::`. */
  | { readonly kind: 'null-address' };

export interface QuestionRules {
  readonly routes: readonly { readonly scope: NameScope; readonly action: RuleAction }[];
  /** Whether A and AAAA questions for names of one label stay here. */
  readonly keepsPlainNames: boolean;
  /** Whether reverse questions for private addresses stay here. */
  readonly keepsPrivateReverse: boolean;
  /** Whether SOA, SRV, and ANY with an underscore stay here. */
  readonly keepsWindowsQuestions: boolean;
  /** Seconds, for addresses of domains. */
  readonly ttl: number;
}

type Scopes = NameScopes<QuestionRules['routes'][number], RuleAction>;

export interface QuestionRuleBook {
  readonly handler: Handler;
  /** Whether a domain that contains the name has addresses for all its names: the name then exists. */
  readonly hasAddress: (name: NameKey) => boolean;
  /** Whether any domain has such addresses. */
  readonly hasAddresses: boolean;
}

/** Whether both compile to the same rules. Routes are compared by identity: the list may be long. */
export function isSameRules(one: QuestionRules, other: QuestionRules): boolean {
  return (
    one.routes === other.routes &&
    one.keepsPlainNames === other.keepsPlainNames &&
    one.keepsPrivateReverse === other.keepsPrivateReverse &&
    one.keepsWindowsQuestions === other.keepsWindowsQuestions &&
    one.ttl === other.ttl
  );
}

/** @param exists whether a name or one below it is known */
export function compileQuestionRules(
  rules: QuestionRules,
  exists: (name: NameKey) => boolean,
): QuestionRuleBook {
  const scopes = new NameScopes(rules.routes, ({ action }) => action);
  return {
    handler: {
      name: 'question-rules',
      role: 'other',
      answers: 'unchanged',
      questions: compileQuestions(rules, scopes),
      handle: (query, next) =>
        answerPrivateReverse(rules, scopes, query) ??
        answerWindows(rules, query) ??
        answerByRoute(rules, scopes, query, exists) ??
        next(query),
    },
    hasAddress: (name) => scopes.some(name, isAddress),
    hasAddresses: rules.routes.some(({ action }) => isAddress(action)),
  };
}

function compileQuestions(rules: QuestionRules, scopes: Scopes): Questions {
  if (isIdle(rules)) return NO_QUESTIONS;
  const { keepsPrivateReverse, keepsWindowsQuestions } = rules;
  return {
    includes: (name, type) =>
      keepsHere(rules, name, type) ||
      (keepsPrivateReverse && REVERSE_TYPES.has(type)) ||
      (keepsWindowsQuestions && WINDOWS_TYPES.has(type)) ||
      hasRule(actionsFor(scopes, name, type)),
    matches: () => listMatches(rules),
  };
}

function* listMatches(rules: QuestionRules): Iterable<Match> {
  const any = { kind: 'any' } as const;
  if (rules.keepsPlainNames) yield { name: any, types: ADDRESS_TYPES };
  if (rules.keepsPrivateReverse) yield { name: any, types: REVERSE_TYPES };
  if (rules.keepsWindowsQuestions) yield { name: any, types: WINDOWS_TYPES };
  for (const { scope, action } of rules.routes) {
    if (isForServers(action)) continue;
    const types = action.kind === 'local' ? 'all' : ADDRESS_TYPES;
    yield { name: scope.kind === 'domain' ? { kind: 'suffix', name: scope.name } : any, types };
  }
}

const ADDRESS_TYPES: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA, TYPE.ANY]);
const REVERSE_TYPES: ReadonlySet<number> = new Set([TYPE.PTR, TYPE.ANY]);
const WINDOWS_TYPES: ReadonlySet<number> = new Set([TYPE.SOA, TYPE.SRV, TYPE.ANY]);

/** Whether rules only choose servers. */
function isIdle(rules: QuestionRules): boolean {
  const { routes, keepsPlainNames, keepsPrivateReverse, keepsWindowsQuestions } = rules;
  const keeps = keepsPlainNames || keepsPrivateReverse || keepsWindowsQuestions;
  return !keeps && routes.every(({ action }) => isForServers(action));
}

function hasRule([first]: readonly RuleAction[]): boolean {
  return first !== undefined && !isForServers(first);
}

const isForServers = ({ kind }: RuleAction): boolean => kind === 'forward' || kind === 'default';

const isAddress = ({ kind }: RuleAction): boolean => kind === 'address' || kind === 'null-address';

function answerPrivateReverse(
  { keepsPrivateReverse }: QuestionRules,
  scopes: Scopes,
  { key, question }: Query,
): Answer | undefined {
  const isReverse = question.type === TYPE.PTR || question.type === TYPE.ANY;
  if (!keepsPrivateReverse || !isReverse) return undefined;
  const octets = octetsOfReverseName(key);
  if (
    octets === undefined ||
    !isPrivate(octets, true) ||
    scopes.some(key, ({ kind }) => kind === 'forward', 'narrow')
  )
    return undefined;
  return denial('nxdomain', true);
}

function answerWindows({ keepsWindowsQuestions }: QuestionRules, query: Query): Answer | undefined {
  const { type } = query.question;
  if (!keepsWindowsQuestions) return undefined;
  const isKept = type === TYPE.SOA || type === TYPE.SRV || (type === TYPE.ANY && query.key.includes('_'));
  return isKept ? denial('nodata', true) : undefined;
}

function answerByRoute(
  rules: QuestionRules,
  scopes: Scopes,
  query: Query,
  exists: (name: NameKey) => boolean,
): Answer | undefined {
  const { key, question } = query;
  const actions = actionsFor(scopes, key, question.type);
  const [first] = actions;
  if (first?.kind === 'address' || first?.kind === 'null-address')
    return tellAddresses(rules, query, actions);
  const isKept = keepsHere(rules, key, question.type);
  if (first?.kind !== 'local' && !isKept) return undefined;
  if (exists(key) || hasAddresses(scopes, key)) return denial('nodata', false);
  return denial('nxdomain', false);
}

/** Whether a question for addresses of a name of one label stays here. The root has no label. */
function keepsHere({ keepsPlainNames }: QuestionRules, name: NameKey, type: number): boolean {
  const isForAddress = type === TYPE.A || type === TYPE.AAAA;
  return keepsPlainNames && isForAddress && name !== ROOT && countLabels(name) === 1;
}

/**
 * The actions of the longest scope with a rule for this type. Addresses of the type come before null addresses, then servers, and
 * `local` last.
 */
function actionsFor(scopes: Scopes, name: NameKey, type: number): readonly RuleAction[] {
  for (const actions of scopes.find(name)) {
    const addresses = addressesFor(actions, type);
    if (addresses.length > 0) return addresses;
    const wanted = ORDER.filter((kind) => kind !== 'null-address' || listAddressTypes(type).length > 0);
    const found = wanted.map((kind) => actions.find((action) => action.kind === kind)).find(isThere);
    if (found !== undefined) return [found];
  }
  return [];
}

const ORDER = ['null-address', 'default', 'forward', 'local'] as const;

const isThere = (action: RuleAction | undefined): boolean => action !== undefined;

/** In reverse order of the rules. A question for ANY gets one family. */
function addressesFor(actions: readonly RuleAction[], type: number): readonly RuleAction[] {
  for (const wanted of listAddressTypes(type)) {
    const found = actions.filter(
      (action) => action.kind === 'address' && toAddressType(action.address) === wanted,
    );
    if (found.length > 0) return found.toReversed();
  }
  return [];
}

/** The types of address that a question asks for. */
function listAddressTypes(type: number): readonly number[] {
  if (type === TYPE.ANY) return [TYPE.AAAA, TYPE.A];
  return type === TYPE.A || type === TYPE.AAAA ? [type] : [];
}

/** Whether the scope that keeps a name here has addresses itself, of another type. */
function hasAddresses(scopes: Scopes, name: NameKey): boolean {
  for (const actions of scopes.find(name)) {
    if (!actions.some(({ kind }) => kind === 'local')) continue;
    return actions.some(isAddress);
  }
  return false;
}

function tellAddresses({ ttl }: QuestionRules, { question }: Query, actions: readonly RuleAction[]): Answer {
  const records = actions
    .flatMap((action) => addressData(action, question.type))
    .map((data) => ({
      name: question.name,
      class: CLASS.IN,
      ttl,
      data,
    }));
  return { kind: 'records', records, additionals: [], authoritative: true };
}

function addressData(action: RuleAction, type: number): readonly RecordData[] {
  if (action.kind === 'address')
    return [{ kind: toAddressType(action.address) === TYPE.A ? 'A' : 'AAAA', address: action.address }];
  const nothing: readonly RecordData[] = [
    { kind: 'A', address: '0.0.0.0' },
    { kind: 'AAAA', address: '::' },
  ];
  return nothing.filter(({ kind }) => listAddressTypes(type).includes(kind === 'A' ? TYPE.A : TYPE.AAAA));
}

function toAddressType(address: string): number {
  return address.includes(':') ? TYPE.AAAA : TYPE.A;
}

function denial(kind: 'nodata' | 'nxdomain', authoritative: boolean): Answer {
  return { kind, aliases: [], soa: undefined, authoritative };
}
