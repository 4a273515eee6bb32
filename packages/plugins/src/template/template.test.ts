import { readExpression } from '@portolan/corefile/expression/expression.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { Pattern } from '@portolan/kernel/base/pattern.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { describe, expect, it } from 'vitest';
import type { TemplateRule } from './options.ts';
import { createTemplateHandler } from './template.ts';
import { isReservedName, TEMPLATE_TYPES, variableType } from './template-expressions.ts';
import { TextTemplate } from './text-template/text-template.ts';

const makeZones = (...names: readonly string[]) => names.map((name) => toKey(parseName(name)));
const lines = (...sources: readonly string[]) => sources.map((source) => new TextTemplate('answer', source));

const RULE: TemplateRule = {
  class: CLASS.IN,
  type: TYPE.A,
  zones: makeZones('example.'),
  patterns: [],
  variables: [],
  conditions: [],
  answer: lines('{{ .Name }} 60 IN A 192.0.2.1'),
  additional: [],
  authority: [],
  rcode: 0,
  extendedError: undefined,
  fallthrough: [],
};

const passed: Answer = { kind: 'refused' };
const resolve = () => addresses('target.', '192.0.2.7');
const dependencies = () => ({ chain: resolve, metrics: new MetricRegistry(), clock: new ManualClock() });

async function askTemplates(
  rules: readonly Partial<TemplateRule>[],
  query = makeQuery('a.example.'),
): Promise<Answer> {
  const templates = rules.map((rule) => ({ ...RULE, ...rule }));
  return await createTemplateHandler({ templates }, dependencies()).handle(query, () => passed);
}

async function told(rules: readonly Partial<TemplateRule>[], query = makeQuery('a.example.')) {
  const answer = await askTemplates(rules, query);
  if (answer === passed || answer.kind === 'drop') return 'passed';
  const { rcode, answers, authorities, additionals } = toWholeAnswer(answer);
  return [rcode, ...[...answers, ...authorities, ...additionals].map(presentRecord)].join(' | ');
}

describe('template', () => {
  it('answers questions of its class, type and zone', async () => {
    expect(await told([{}])).toBe('0 | a.example. 60 IN A 192.0.2.1');
    expect(await told([{}], makeQuery('A.Example.', 'ANY'))).toBe('0 | a.example. 60 IN A 192.0.2.1');
    expect(await told([{}], makeQuery('a.example.', 'AAAA'))).toBe('passed');
    expect(await told([{}], makeQuery('a.test.'))).toBe('passed');
    expect(await told([{}], makeQuery('a.example.', 'A', CLASS.CH))).toBe('passed');
  });

  it('fills in groups, zone, class and type', async () => {
    const rule = {
      type: TYPE.TXT,
      patterns: [new Pattern('^never'), new Pattern('^ip-(?P<n>[0-9]+)[.]')],
      answer: lines(
        '{{ .Name }} IN TXT "{{ .Group.n }} {{ index .Match 1 }} {{ .Zone }} {{ .Class }} {{ .Type }}"',
      ),
    };
    expect(await told([rule], makeQuery('ip-7.example.', 'TXT'))).toBe(
      '0 | ip-7.example. 3600 IN TXT "7 7 example. IN TXT"',
    );
  });

  it('fails for names that fit no pattern, unless they fall through', async () => {
    const patterns = [new Pattern('^b')];
    expect(await askTemplates([{ patterns }, {}])).toEqual({ kind: 'servfail' });
    expect(await told([{ patterns, fallthrough: makeZones('.') }, {}])).toBe(
      '0 | a.example. 60 IN A 192.0.2.1',
    );
    expect(await told([{ patterns, fallthrough: makeZones('test.') }])).toBe('2');
  });

  it('follows aliases for addresses, but not to the question itself', async () => {
    const answer = lines('{{ .Name }} 60 IN CNAME target.');
    expect(await told([{ answer }])).toBe('0 | a.example. 60 IN CNAME target. | target. 30 IN A 192.0.2.7');
    expect(await told([{ answer, type: TYPE.TXT }], makeQuery('a.example.', 'TXT'))).toBe(
      '0 | a.example. 60 IN CNAME target.',
    );
    expect(await told([{ answer: lines('{{ .Name }} 60 IN CNAME {{ .Name }}') }])).toBe(
      '0 | a.example. 60 IN CNAME a.example.',
    );
  });

  it('fails with the reason where a template makes no record', async () => {
    expect(await askTemplates([{ answer: lines('{{ .Name }} 60 IN A x') }])).toEqual({
      kind: 'servfail',
      reason: 'dns: bad A A: "x" at line: 1:20',
    });
    expect(await askTemplates([{ answer: lines('{{ index .Match 9 }}') }])).toMatchObject({
      kind: 'servfail',
      reason: expect.stringContaining('index out of range: 9'),
    });
  });

  it('says the code and the extended error of its options', async () => {
    expect(
      await askTemplates([{ answer: [], rcode: 3, extendedError: { code: 21, text: 'no' } }]),
    ).toMatchObject({
      rcode: 3,
      authoritative: true,
      edns: { udpSize: 4096, dnssecOk: true, options: [{ code: 15, data: Buffer.from('\0\x15no') }] },
    });
    expect(await askTemplates([{ rcode: 2 }])).toEqual({ kind: 'servfail' });
  });

  it('takes line breaks within quotation marks', async () => {
    expect(await told([{ answer: lines('{{ .Name }} 60 IN TXT "a{{ print "\\n" }}b"') }])).toBe(
      '0 | a.example. 60 IN TXT "a\\010b"',
    );
  });

  it.each([
    ['the client', '{{ .Name }} 60 IN TXT {{ .Remote }}', false],
    ['the message', '{{ .Name }} 60 IN TXT {{ .Message.Id }}', false],
    ['the name alone', '{{ .Name }} 60 IN TXT x', true],
  ])('may be stored or not: it reads %s', async (_what, source, isDerived) => {
    const query = makeQuery('a.example.');
    await askTemplates([{ answer: lines(source) }], query);
    expect(query.isDerived).toBe(isDerived);
  });
});

it('counts what templates were for, and those that make no record, as Go shows them', async () => {
  const metrics = new MetricRegistry();
  const answer = lines('{{ .Name }}  60 IN A {{- if eq .Name  `a  b` }} x{{ end }}');
  const templates = [{ ...RULE, answer }];
  await createTemplateHandler({ templates }, { ...dependencies(), metrics }).handle(
    makeQuery('a.example.'),
    () => passed,
  );
  const text = await metrics.render();
  const labels = 'server="",zone="example.",view="",class="IN",type="A"';
  expect(text).toContain(`coredns_template_matches_total{${labels}} 1`);
  const shown = '{{.Name}}  60 IN A{{if eq .Name `a  b`}} x{{end}}';
  expect(text).toContain(
    `coredns_template_rr_failures_total{${labels},section="answer",template="${shown}"} 1`,
  );
});

describe('the questions of template', () => {
  const statedBy = (rule: Partial<TemplateRule>) =>
    createTemplateHandler({ templates: [{ ...RULE, ...rule }] }, dependencies()).questions;
  const suffix = (name: string) => ({ kind: 'suffix', name });

  it.each([
    [{}, [suffix('example.')]],
    [{ patterns: [new Pattern('^b[.]example[.]$')] }, [suffix('example.')]],
    [
      { patterns: [new Pattern('^.*[.]b[.]example[.]$')], fallthrough: makeZones('.') },
      [suffix('b.example.')],
    ],
    [{ patterns: [new Pattern('b')], fallthrough: makeZones('.') }, [suffix('example.')]],
    [{ patterns: [new Pattern('^.*[.]test[.]$')], fallthrough: makeZones('.') }, []],
    [{ class: CLASS.CH }, []],
  ])('are those of its zones that it says something about, %#', (rule, names) => {
    const types = new Set([TYPE.A, TYPE.ANY]);
    expect([...statedBy(rule).matches()]).toEqual(names.map((name) => ({ name, types })));
  });

  it('leave out names that fall through', () => {
    const { includes } = statedBy({ patterns: [new Pattern('^b')], fallthrough: makeZones('.') });
    expect(
      [makeQuery('b.example.'), makeQuery('a.example.')].map(({ key }) => includes(key, TYPE.A)),
    ).toEqual([true, false]);
  });
});

describe('expressions of a template', () => {
  /** The parts of a rule with these variables and conditions. */
  function withExpressions(variables: Readonly<Record<string, string>>, ...conditions: readonly string[]) {
    const known = new Map(TEMPLATE_TYPES);
    const made = Object.entries(variables).map(([name, text]) => {
      const expression = readExpression(text, known);
      known.set(name, variableType(expression.type));
      return { name, expression };
    });
    return { variables: made, conditions: conditions.map((text) => readExpression(text, known)) };
  }
  const numbered = { patterns: [new Pattern('^(?P<n>[0-9]+)-(?P<m>[0-9]+)[.]example[.]$')] };

  it('fill in variables, each from those before it', async () => {
    const rule = {
      ...numbered,
      ...withExpressions({
        num: "int(group('n'))",
        double: 'num * 2',
        whole: 'group(0)',
        none: "group('x')",
      }),
      answer: lines('{{ .Var.whole }} 60 IN A 10.{{ .Var.num }}.{{ .Var.double }}.{{ len .Var.none }}'),
    };
    expect(await told([rule], makeQuery('4-2.example.'))).toBe('0 | 4-2.example. 60 IN A 10.4.8.0');
  });

  it('are conditions, and fall through where these are not met', async () => {
    const rule = { ...numbered, ...withExpressions({ num: "int(group('n'))" }, 'num > 1', "type() == 'A'") };
    expect(await told([rule], makeQuery('2-1.example.'))).toContain('192.0.2.1');
    expect((await askTemplates([rule], makeQuery('1-1.example.'))).kind).toBe('servfail');
    const falling = { ...rule, fallthrough: makeZones('example.') };
    expect(await told([falling], makeQuery('1-1.example.'))).toBe('passed');
    expect(await told([{ ...falling, ...withExpressions({}, '1') }], makeQuery('1-1.example.'))).toBe(
      'passed',
    );
  });

  it('have the variables of their own rule alone', async () => {
    const isThere = "'num' in $env";
    expect(await told([withExpressions({ num: '1' }, isThere)])).toContain('192.0.2.1');
    const first = { ...withExpressions({ num: '1' }, 'false'), fallthrough: makeZones('example.') };
    expect((await askTemplates([first, withExpressions({}, isThere)])).kind).toBe('servfail');
  });

  it('that have no value are SERVFAIL, even with fallthrough', async () => {
    const rule = {
      ...withExpressions({}, "incidr('none', '10.0.0.0/8')"),
      fallthrough: makeZones('example.'),
    };
    expect((await askTemplates([rule])).kind).toBe('servfail');
  });

  it.each([
    ['client_ip()', true],
    ['do()', true],
    ['name()', false],
    ["'constant'", false],
  ])('with %s are for one client alone: %s', async (text, isForOne) => {
    const query = makeQuery('a.example.');
    await askTemplates([withExpressions({ value: text })], query);
    expect(query.clientWasRead).toBe(isForOne);
  });

  it('cannot be named as words of the language', () => {
    expect(
      ['len', 'true', 'let', 'name', 'group', 'bitushr'].filter(
        (name) => !isReservedName(name, TEMPLATE_TYPES),
      ),
    ).toEqual([]);
    expect(isReservedName('ttl', TEMPLATE_TYPES)).toBe(false);
  });
});
