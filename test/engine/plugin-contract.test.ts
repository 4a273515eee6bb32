/**
 * The contract between handlers and the answer table, for the handlers of a Corefile with any options: a handler passes questions
 * that it does not declare, and their answers, on unchanged. The compiled ask rules cover the questions that it declares.
 */
import { parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { Pattern } from '@portolan/kernel/base/pattern.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { covers } from '@portolan/kernel/chain/match.ts';
import { addresses, CLIENT, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { createAutopathHandler } from '@portolan/kubernetes/plugins/autopath/autopath.ts';
import { Acl } from '@portolan/plugins/acl/acl.ts';
import { createAnyHandler } from '@portolan/plugins/any/any.ts';
import { createCancelHandler } from '@portolan/plugins/cancel/plugin.ts';
import { createChaosHandler } from '@portolan/plugins/chaos/chaos.ts';
import { answerAsCoreDns } from '@portolan/plugins/chaos/coredns-answers.ts';
import { createLocalhostHandler } from '@portolan/plugins/local/localhost.ts';
import { createNsidHandler } from '@portolan/plugins/nsid/plugin.ts';
import type { RewriteMatch, RewriteRule } from '@portolan/plugins/rewrite/options.ts';
import { createRewriteHandler } from '@portolan/plugins/rewrite/rewrite.ts';
import { createTemplateHandler } from '@portolan/plugins/template/template.ts';
import { TextTemplate } from '@portolan/plugins/template/text-template/text-template.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';

const NAMES = [
  'a.example.',
  'x.a.example.',
  'aa.example.',
  'old.test.',
  'x.old.test.',
  'bold.test.',
  'localhost.',
  'x.localhost.',
  'localhost.test.',
  '1.0.0.127.in-addr.arpa.',
  'example.',
  'test.',
  '.',
];
const TYPES = ['A', 'AAAA', 'TXT', 'ANY', 'PTR'] as const;

const metrics = new MetricRegistry();
const answer = addresses('a.example.', '192.0.2.1');
const chain = () => answer;
const number = fc.constantFrom(TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.ANY);
const zones = fc.subarray(
  ['.', 'example.', 'a.example.', 'test.'].map((zone) => toKey(parseName(zone))),
  {
    minLength: 1,
  },
);
const pattern = fc
  .constantFrom(
    '^a',
    'old',
    '(.*)\\.old\\.test\\.$',
    '^x[.]a[.]example[.]$',
    '[.]example[.]?$',
    '^(a|x)\\..*test\\.$',
    '.*',
  )
  .map((source) => new Pattern(source));
const mode = fc.constantFrom('stop' as const, 'continue' as const);

const match: fc.Arbitrary<RewriteMatch> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('exact' as const, 'prefix' as const, 'suffix' as const, 'substring' as const),
    text: fc.constantFrom('a.example.', '.old.test.', 'old.test.', 'a.', 'example.', '.'),
  }),
  fc.record({ kind: fc.constant('regex' as const), pattern }),
);

const rule: fc.Arbitrary<RewriteRule> = fc.oneof(
  fc.record({
    mode,
    field: fc.constant('name' as const),
    match,
    to: fc.constantFrom('new.example.', '.example.'),
    restoresName: fc.boolean(),
    answers: fc.constant([]),
  }),
  fc.record({ mode, field: fc.constant('type' as const), from: number, to: number }),
  fc.record({
    mode,
    field: fc.constant('class' as const),
    from: fc.constantFrom(CLASS.IN, CLASS.CH),
    to: fc.constant(CLASS.IN),
  }),
  fc.record({ mode, field: fc.constant('ttl' as const), match, min: fc.constant(5), max: fc.constant(9) }),
  fc.record({ mode, field: fc.constant('rcode' as const), match, from: fc.constant(0), to: fc.constant(2) }),
);

const rewrite = fc
  .array(rule, { minLength: 1, maxLength: 3 })
  .map((rules) => createRewriteHandler({ rules }, chain));

const template = fc
  .record({
    class: fc.constantFrom(CLASS.IN, CLASS.CH, CLASS.ANY),
    type: number,
    zones,
    patterns: fc.array(pattern, { maxLength: 2 }),
    fallthrough: fc.oneof(fc.constant([]), zones),
    rcode: fc.constantFrom(0, 2, 3),
  })
  .map((rule_) => {
    const answers = [new TextTemplate('answer', '{{ .Name }} 60 IN TXT x')];
    const none = { variables: [], conditions: [], additional: [], authority: [], extendedError: undefined };
    return createTemplateHandler(
      { templates: [{ ...rule_, ...none, answer: answers }] },
      { chain, metrics, clock: new ManualClock() },
    );
  });

const acl = fc
  .record({
    zones,
    policies: fc.array(
      fc.record({
        action: fc.constantFrom('allow' as const, 'block' as const, 'filter' as const, 'drop' as const),
        types: fc.oneof(fc.constant('all' as const), fc.array(number, { minLength: 1, maxLength: 2 })),
        clients: fc.constantFrom('all' as const, [{ address: CLIENT.address, prefix: 32 }], []),
      }),
      { maxLength: 3 },
    ),
  })
  .map((options) => new Acl({ rules: [options] }, metrics).handler);

const others = fc.constantFrom<Handler>(
  createAnyHandler('obsolete', () => true),
  createCancelHandler(),
  createNsidHandler({ data: undefined }, 'host'),
  createLocalhostHandler({ answersLocalhostPrefix: true }, metrics),
  createLocalhostHandler({ answersLocalhostPrefix: false }, metrics),
  createAutopathHandler(
    {
      domains: new Set([toKey(parseName('old.test.'))]),
      listFor: () => ['old.test.', 'test.'].map((domain) => toKey(parseName(domain))),
    },
    { restored: NOTHING_RESTORED, lookUp: chain, metrics, zones: [] },
  ),
  createChaosHandler(
    answerAsCoreDns(
      { kind: 'coredns', version: undefined, authors: undefined },
      { hostName: 'h', version: 'v', authors: ['a'] },
    ),
  ),
);

it('holds for the handlers of a Corefile, whatever their options are', async () => {
  const counts = { stated: 0, passed: 0 };
  const handlers = fc.oneof(rewrite, template, acl, others);
  await fc.assert(
    fc.asyncProperty(
      handlers,
      fc.constantFrom(...NAMES),
      fc.constantFrom(...TYPES),
      async (handler, name, type) => {
        const query = makeQuery(name, type);
        const { questions } = handler;
        if (questions.includes(query.key, query.question.type)) {
          counts.stated += 1;
          const isCovered = [...questions.matches()].some((each) =>
            covers(each, query.key, query.question.type),
          );
          expect(isCovered, `${handler.name}: ${name} ${type}`).toBe(true);
          return;
        }
        counts.passed += 1;
        const seen: unknown[] = [];
        const given = await handler.handle(query, (next) => {
          seen.push(next);
          return answer;
        });
        expect(
          [seen.length, seen[0] === query, given === answer],
          `${handler.name}: ${name} ${type}`,
        ).toEqual([1, true, true]);
      },
    ),
    { numRuns: 2000 },
  );
  // Nothing is proven by questions that are all of one kind.
  expect(counts.stated).toBeGreaterThan(100);
  expect(counts.passed).toBeGreaterThan(100);
});
