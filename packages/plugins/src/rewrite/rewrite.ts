/**
 * Changes questions before they are answered, and changes the answers back.
 */
import { toKey, tryParseName } from '@portolan/dns/name.ts';
import { type AbsoluteName, CLASS } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { covers, type Match, type Questions } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { isResponse, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { changeEdns } from './edns-rules.ts';
import { matchesName, replaceName, toNameMatch } from './name-match.ts';
import type { RewriteName, RewriteOptions, RewriteRule } from './options.ts';
import {
  changeResponse,
  type LookUp,
  type Rename,
  type ResponseChange,
  renamePattern,
  renameSuffix,
  renameWithin,
  revertOption,
} from './response-changes.ts';

/** @param chain answers questions for targets that `cname` rules insert */
export function createRewriteHandler({ rules }: RewriteOptions, chain: Chain): Handler {
  const optionCodes = listLocalCodes(rules);
  return {
    name: 'rewrite',
    role: 'other',
    answers: 'unchanged',
    changesAnswers: true,
    questions: rewrittenQuestions(rules),
    readsOptions: rules.some(({ field }) => field === 'edns0'),
    handle(query, next) {
      // CoreDNS treats options that a rule names as understood.
      if (optionCodes.size > 0) query.repeat({ optionCodes });
      return new Rewriting(query, chain).run(rules, next);
    },
  };
}

function listLocalCodes(rules: readonly RewriteRule[]): ReadonlySet<number> {
  return new Set(
    rules.flatMap((rule) => (rule.field === 'edns0' && rule.option === 'local' ? [rule.code] : [])),
  );
}

/** Applies the rules to one query. */
class Rewriting {
  readonly #first: Query;
  readonly #chain: Chain;
  readonly #changes: ResponseChange[] = [];
  #query: Query;

  constructor(query: Query, chain: Chain) {
    this.#first = query;
    this.#query = query;
    this.#chain = chain;
  }

  run(rules: readonly RewriteRule[], next: Next): Answer | Promise<Answer> {
    for (const rule of rules) {
      const applied = this.#apply(rule);
      if (applied === undefined) continue;
      if ('invalid' in applied)
        return { kind: 'servfail', reason: `invalid name after rewrite: ${applied.invalid}` };
      this.#changes.push(...applied.changes);
      if (rule.mode === 'stop') return this.#answer(next);
    }
    if (this.#changes.length === 0) return this.#pass(next);
    return this.#answer(next);
  }

  #apply(rule: RewriteRule): Applied | undefined {
    switch (rule.field) {
      case 'name':
        return this.#rename(rule);
      case 'type':
      case 'class':
        return this.#renumber(rule.field, rule.from, rule.to);
      case 'ttl':
        if (!this.#fits(rule)) return undefined;
        // TTLs count down, so they must be bounded again for each query.
        this.#first.forbidStoring();
        return { changes: [{ kind: 'ttl', min: rule.min, max: rule.max }] };
      case 'rcode':
        return this.#fits(rule) ? { changes: [{ kind: 'rcode', from: rule.from, to: rule.to }] } : undefined;
      case 'cname':
        return { changes: [{ kind: 'cname', rule, lookUp: this.#lookUp }] };
      case 'edns0': {
        if ((this.#query.edns?.options.length ?? 0) > 0) this.#first.forbidStoring();
        const { edns, applies, reverts } = changeEdns(rule, this.#query, this.#query.edns);
        if (edns !== this.#query.edns) this.#query = this.#query.with({ edns });
        return applies ? { changes: reverts } : undefined;
      }
    }
  }

  #fits({ match }: Extract<RewriteRule, { field: 'ttl' | 'rcode' }>): boolean {
    return matchesName(match, this.#query.key);
  }

  #rename(rule: RewriteName): Applied | undefined {
    const { key, question } = this.#query;
    const text = replaceName(rule.match, rule.to, key);
    if (text === undefined) return undefined;
    const name = tryParseName(text);
    if (name === undefined) return { invalid: text };
    this.#query = this.#query.about({ ...question, name });
    return { changes: createResponseChanges(rule, key, name) };
  }

  #renumber(field: 'type' | 'class', from: number, to: number): Applied | undefined {
    const { question } = this.#query;
    if (question[field] !== from) return undefined;
    this.#query = this.#query.about({ ...question, [field]: to });
    return { changes: [] };
  }

  readonly #lookUp: LookUp = async (name) => {
    const further = this.#query.furtherQuery({ ...this.#query.question, name });
    if (further === undefined) return undefined;
    const answer = await this.#chain(further);
    return answer.kind === 'drop' ? undefined : toWholeAnswer(answer);
  };

  #pass(next: Next): Answer | Promise<Answer> {
    this.#noteChanges();
    return next(this.#query);
  }

  /** Turns a bare response code into a response, so that rules for codes see it. */
  async #answer(next: Next): Promise<Answer> {
    this.#noteChanges();
    const answer = await next(this.#query);
    if (answer.kind === 'drop' || (this.#changes.length === 0 && isResponse(answer))) return answer;
    return await changeResponse(toWholeAnswer(answer), this.#changes);
  }

  #noteChanges(): void {
    if (this.#query.question !== this.#first.question) this.#first.noteRewritten(this.#query.question);
    this.#repeatEdns();
  }

  /** Makes the response repeat the OPT record that the rules have made, without options that they revert. */
  #repeatEdns(): void {
    const { edns } = this.#query;
    if (edns === undefined || edns === this.#first.edns) return;
    let { options } = edns;
    for (const change of this.#changes.toReversed())
      if (change.kind === 'edns') options = revertOption(options, change);
    this.#first.repeat({ edns: { ...edns, options } });
  }
}

type Applied = { readonly changes: readonly ResponseChange[] } | { readonly invalid: string };

/** Changes that restore answers: by the exact names of the question, or for suffixes by the text of the rule. */
function createResponseChanges(rule: RewriteName, from: string, to: AbsoluteName): readonly ResponseChange[] {
  const { match, answers, restoresName } = rule;
  const own = answers.map(
    ({ field, pattern, to: replacement }): ResponseChange => ({
      kind: field,
      rename: renamePattern(pattern, replacement),
    }),
  );
  if (!restoresName) return own;
  const rename: Rename =
    match.kind === 'suffix' ? renameSuffix(rule.to, match.text) : renameWithin(toKey(to), from);
  return [{ kind: 'name', rename }, { kind: 'value', rename }, ...own];
}

/**
 * The questions that rules may change, or whose answers they may change. The matches are too wide if a rule does not state how its
 * names end.
 */
function rewrittenQuestions(rules: readonly RewriteRule[]): Questions {
  const matches = rules.flatMap(listMatches);
  return {
    includes: (name, type) => matches.some((match) => covers(match, name, type)),
    matches: () => matches,
  };
}

const ANY_NAME: Match['name'] = { kind: 'any' };

/** Each rule by itself: later rules see a changed name only if the rule that changed it matched. */
function listMatches(rule: RewriteRule): readonly Match[] {
  switch (rule.field) {
    case 'type':
      return [{ name: ANY_NAME, types: new Set([rule.from]) }];
    case 'class':
      // Readers answer only class IN, and ask rules are only for class IN.
      return rule.from === CLASS.IN ? [{ name: ANY_NAME, types: 'all' }] : [];
    case 'cname':
    case 'edns0':
      return [{ name: ANY_NAME, types: 'all' }];
    default:
      return [{ name: toNameMatch(rule.match), types: 'all' }];
  }
}
