import { typeName } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { Pattern } from '@portolan/kernel/base/pattern.ts';
import type { Answer, WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import { covers } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { makeQuery, record, SOA } from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { describe, expect, it } from 'vitest';
import type { RewriteMatch, RewriteMode, RewriteRule } from './options.ts';
import { createRewriteHandler } from './rewrite.ts';

const stop: RewriteMode = 'stop';
const exact = (text: string): RewriteMatch => ({ kind: 'exact', text });
const regex = (source: string): RewriteMatch => ({ kind: 'regex', pattern: new Pattern(source) });

function nameRule(
  match: RewriteMatch,
  to: string,
  more: Partial<Extract<RewriteRule, { field: 'name' }>> = {},
) {
  const restoresName = match.kind === 'exact';
  return { mode: stop, field: 'name', match, to, restoresName, answers: [], ...more } as const;
}

/** Has an address for every name, and an alias or a mail server for some. */
const echo = ({ question }: Query): WholeAnswer => {
  const { name, type } = question;
  const exchange = parseName('mail.new.');
  const data =
    type === TYPE.MX
      ? ({ kind: 'MX', preference: 10, exchange } as const)
      : ({ kind: 'A', address: '192.0.2.1' } as const);
  return { ...EMPTY_ANSWER, answers: [record(name, data)] };
};

const refuse: Chain = () => ({ kind: 'refused' });

interface Asked {
  /** `NAME TYPE` as the handlers behind see it. */
  readonly question: string | undefined;
  readonly answer: Answer;
  readonly query: Query;
}

async function ask(
  rules: readonly RewriteRule[],
  query: Query,
  next: Chain = echo,
  chain = refuse,
): Promise<Asked> {
  let question: string | undefined;
  const handler = createRewriteHandler({ rules }, chain);
  const answer = await handler.handle(query, (behind) => {
    question = `${behind.question.name} ${typeName(behind.question.type)}`;
    return next(behind);
  });
  return { question, answer, query };
}

function told({ answer }: Asked): readonly string[] {
  if (answer.kind === 'drop') return [];
  const { answers, authorities, additionals } = toWholeAnswer(answer);
  return [...answers, ...authorities, ...additionals].map(presentRecord);
}

describe('rules for names', () => {
  it.each([
    ['exact', nameRule(exact('old.'), 'new.'), 'OLD.', 'new. A', 'old. 30 IN A 192.0.2.1'],
    ['prefix', nameRule({ kind: 'prefix', text: 'a.' }, 'b.'), 'a.x.', 'b.x. A', 'b.x. 30 IN A 192.0.2.1'],
    [
      'suffix',
      nameRule({ kind: 'suffix', text: '.old.' }, '.new.'),
      'a.old.',
      'a.new. A',
      'a.new. 30 IN A 192.0.2.1',
    ],
    [
      'substring',
      nameRule({ kind: 'substring', text: 'l.' }, 'x.'),
      'al.bl.',
      'ax.bx. A',
      'ax.bx. 30 IN A 192.0.2.1',
    ],
    [
      'regex',
      nameRule(regex('^(.*)\\.old\\.$'), '{1}.new.'),
      'a.old.',
      'a.new. A',
      'a.new. 30 IN A 192.0.2.1',
    ],
    [
      'regex with its answer restored',
      nameRule(regex('(.*)\\.old\\.'), '{1}.new.', { restoresName: true }),
      'a.old.',
      'a.new. A',
      'a.old. 30 IN A 192.0.2.1',
    ],
  ] as const)('%s', async (_kind, rule, name, question, answer) => {
    const asked = await ask([rule], makeQuery(name));
    expect([asked.question, ...told(asked)]).toEqual([question, answer]);
  });

  it('turn names in values back by the suffix, or by rules of their own', async () => {
    const suffix = nameRule({ kind: 'suffix', text: '.old.' }, '.new.', { restoresName: true });
    expect(told(await ask([suffix], makeQuery('a.old.', 'MX')))).toEqual(['a.old. 30 IN MX 10 mail.old.']);
    const answers = [{ field: 'value', pattern: new Pattern('(.*)\\.new\\.'), to: '{1}.shown.' }] as const;
    const byPattern = nameRule(regex('(.*)\\.old\\.'), '{1}.new.', { answers });
    expect(told(await ask([byPattern], makeQuery('a.old.', 'MX')))).toEqual([
      'a.new. 30 IN MX 10 mail.shown.',
    ]);
  });

  it('stop at the first that fits, or go on with the changed name', async () => {
    const second = nameRule(exact('b.'), 'c.');
    expect((await ask([nameRule(exact('a.'), 'b.'), second], makeQuery('a.'))).question).toBe('b. A');
    const further = await ask([nameRule(exact('a.'), 'b.', { mode: 'continue' }), second], makeQuery('a.'));
    expect([further.question, ...told(further)]).toEqual(['c. A', 'a. 30 IN A 192.0.2.1']);
  });

  it('fail where the result is no name', async () => {
    const { answer } = await ask([nameRule(exact('a.'), 'b..c.')], makeQuery('a.'));
    expect(answer).toEqual({ kind: 'servfail', reason: 'invalid name after rewrite: b..c.' });
  });

  it('put in what a client sends only once', async () => {
    const rule = nameRule(regex('^(.*)-(.*)\\.$'), '{1}.');
    expect((await ask([rule], makeQuery('{2}{2}-x.'))).question).toBe('{2}{2}. A');
  });
});

describe('rules for other parts', () => {
  it('change type and class', async () => {
    const type: RewriteRule = { mode: stop, field: 'type', from: TYPE.AAAA, to: TYPE.A };
    expect((await ask([type], makeQuery('a.', 'AAAA'))).question).toBe('a. A');
    const dnsClass: RewriteRule = { mode: stop, field: 'class', from: CLASS.CH, to: CLASS.IN };
    let changed: number | undefined;
    await ask([dnsClass], makeQuery('a.', 'A', CLASS.CH), (query) => {
      changed = query.question.class;
      return echo(query);
    });
    expect(changed).toBe(CLASS.IN);
  });

  it('bound TTLs in all sections', async () => {
    const ttl: RewriteRule = { mode: stop, field: 'ttl', match: exact('a.'), min: 40, max: 50 };
    const answer = {
      ...EMPTY_ANSWER,
      answers: [record('a.', { kind: 'A', address: '192.0.2.1' }, 60)],
      authorities: [SOA],
    };
    const asked = await ask([ttl], makeQuery('a.'), () => answer);
    expect(told(asked).map((line) => line.split(' ')[1])).toEqual(['50', '40']);
    expect(told(await ask([ttl], makeQuery('b.'), () => answer))[0]).toContain(' 60 ');
  });

  it('change response codes, bare ones too', async () => {
    const rcode: RewriteRule = { mode: stop, field: 'rcode', match: exact('a.'), from: 2, to: 3 };
    const asked = await ask([rcode], makeQuery('a.'), () => ({ kind: 'servfail', reason: 'why' }));
    expect(asked.answer).toMatchObject({ kind: 'message', rcode: 3, reason: 'why' });
  });

  it('lead aliases elsewhere, and ask for the rest', async () => {
    const cname: RewriteRule = { mode: stop, field: 'cname', match: exact('b.'), to: 'c.' };
    const aliased = () => ({
      ...EMPTY_ANSWER,
      answers: [
        record('a.', { kind: 'CNAME', target: parseName('b.') }),
        record('b.', { kind: 'A', address: '192.0.2.9' }),
      ],
    });
    expect(told(await ask([cname], makeQuery('a.'), aliased, echo))).toEqual([
      'a. 30 IN CNAME c.',
      'c. 30 IN A 192.0.2.1',
    ]);
  });

  it('end where aliases lead in a circle', async () => {
    const rule: RewriteRule = { mode: stop, field: 'cname', match: exact('b.'), to: 'c.' };
    const aliased = ({ question }: Query) => ({
      ...EMPTY_ANSWER,
      answers: [record(question.name, { kind: 'CNAME', target: parseName('b.') })],
    });
    const handler = createRewriteHandler({ rules: [rule] }, (query) => handler.handle(query, aliased));
    const answer = await handler.handle(makeQuery('a.'), aliased);
    expect(answer.kind === 'message' && answer.answers.length).toBeLessThan(100);
  });
});

describe('rules for EDNS options', () => {
  const set = (more: Partial<Extract<RewriteRule, { option: 'local' }>> = {}): RewriteRule => ({
    mode: stop,
    field: 'edns0',
    action: 'set',
    option: 'local',
    code: 0xffee,
    value: { kind: 'octets', octets: Buffer.from('x') },
    reverts: false,
    ...more,
  });

  async function optionsFor(rule: RewriteRule, query = makeQuery('a.')): Promise<readonly string[]> {
    let options: readonly string[] = [];
    await ask([rule], query, (behind) => {
      options =
        behind.edns?.options.map(({ code, data }) => `${code}=${Buffer.from(data).toString('hex')}`) ?? [];
      return echo(behind);
    });
    return options;
  }

  const withOption = () =>
    makeQuery('a.').with({
      edns: {
        version: 0,
        udpSize: 1232,
        dnssecOk: false,
        extendedRcode: 0,
        options: [{ code: 0xffee, data: Buffer.from('old') }],
      },
    });

  it.each([
    ['set', [], ['65518=78']],
    ['append', ['65518=6f6c64'], ['65518=78']],
    ['replace', [], []],
    ['unset', [], []],
  ] as const)('%s', async (action, kept, without) => {
    expect(await optionsFor(set({ action }))).toEqual(without);
    const changed = action === 'unset' ? [] : ['65518=78'];
    expect(await optionsFor(set({ action }), withOption())).toEqual([...kept, ...changed]);
  });

  it('fill in what is known of the query', async () => {
    const variable = (name: 'qname' | 'client_ip' | 'server_ip' | 'client_port') =>
      optionsFor(set({ value: { kind: 'variable', name } }));
    expect(await variable('qname')).toEqual(['65518=612e']);
    expect(await variable('client_ip')).toEqual(['65518=c0000235']);
    expect(await variable('client_port')).toEqual(['65518=14e9']);
    expect(await variable('server_ip')).toEqual([]);
  });

  it('tell a part of the client address', async () => {
    const subnet = { mode: stop, field: 'edns0', action: 'set', option: 'subnet', reverts: false } as const;
    expect(await optionsFor({ ...subnet, ipv4Prefix: 20, ipv6Prefix: 0 })).toEqual(['8=00011400c00000']);
    expect(await optionsFor({ ...subnet, ipv4Prefix: 0, ipv6Prefix: 0 })).toEqual(['8=00010000']);
  });

  it('have the response repeat the changed record, without what is to be taken back', async () => {
    const kept = await ask([set()], makeQuery('a.'));
    expect(kept.query.repeated.edns).toMatchObject({ udpSize: 4096, options: [{ code: 0xffee }] });
    expect(kept.query.repeated.optionCodes).toEqual(new Set([0xffee]));
    const reverted = await ask([set({ reverts: true })], withOption());
    expect(reverted.query.repeated.edns?.options).toEqual([{ code: 0xffee, data: Buffer.from('old') }]);
  });
});

describe('the questions of rewrite', () => {
  it.each([
    [nameRule(exact('old.example.'), 'x.'), { kind: 'exact', name: 'old.example.' }],
    [nameRule({ kind: 'suffix', text: '.old.' }, '.x.'), { kind: 'suffix', name: 'old.' }],
    [nameRule({ kind: 'suffix', text: 'x.old.' }, '.x.'), { kind: 'suffix', name: 'old.' }],
    [nameRule({ kind: 'suffix', text: 'old.' }, '.x.'), { kind: 'any' }],
    [nameRule({ kind: 'prefix', text: 'old.' }, 'x.'), { kind: 'any' }],
    [nameRule(regex('(.*)\\.old\\.test\\.$'), '{1}.x.'), { kind: 'suffix', name: 'old.test.' }],
    [nameRule(regex('old'), 'x.'), { kind: 'any' }],
  ] as const)('are stated by the text of the rule, %#', (rule, name) => {
    const { questions } = createRewriteHandler({ rules: [rule] }, refuse);
    expect([...questions.matches()]).toEqual([{ name, types: 'all' }]);
  });

  it('are what its matches cover', () => {
    const { questions } = createRewriteHandler(
      { rules: [nameRule(exact('a.'), 'b.'), { mode: stop, field: 'type', from: TYPE.ANY, to: TYPE.A }] },
      refuse,
    );
    for (const name of ['a.', 'b.'])
      for (const type of [TYPE.A, TYPE.ANY]) {
        const { key } = makeQuery(name);
        const isCovered = [...questions.matches()].some((match) => covers(match, key, type));
        expect(questions.includes(key, type)).toBe(isCovered);
      }
  });
});
