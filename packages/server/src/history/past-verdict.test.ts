import { describe, expect, it } from 'vitest';
import { hideText } from './hide-text.ts';
import type { ChangeRecord, FailureRecord, HistoryRecord } from './history-record.ts';
import { explainPast } from './past-verdict.ts';
import { renderPast } from './render-past.ts';

const at = (time: string) => Date.parse(`2026-11-29T${time}Z`);
const iso = (time: string) => new Date(at(time)).toISOString();

const failure = (from: string, given: Partial<FailureRecord> = {}): FailureRecord => ({
  kind: 'failure',
  from: iso(from),
  to: iso(from),
  name: 'cart.shop.svc.cluster.local.',
  type: 'A',
  client: '10.244.1.7',
  rcode: 'NXDOMAIN',
  reason: 'no-such-service',
  sentence: 'there is no service "cart" in namespace shop',
  about: ['service shop/cart'],
  count: 1,
  slow: 0,
  slowest: 1,
  ...given,
});

const change = (
  time: string,
  effect: ChangeRecord['effect'],
  sentence: string,
  about = ['service shop/cart'],
): ChangeRecord => ({
  kind: 'change',
  at: iso(time),
  change: 'service',
  effect,
  sentence,
  about,
});

function explain(
  records: readonly HistoryRecord[],
  name = 'cart.shop',
  minute = '10:15:00',
  namespace?: string,
) {
  const question = { name, from: at(minute), to: at(minute) + 59_999, namespace, client: undefined };
  return explainPast(records, question, at('00:00:00'));
}

const GONE = change('10:14:50', 'bad', 'service shop/cart was removed');
const BACK = change('10:16:20', 'good', 'service shop/cart was added');

describe('a failure', () => {
  it('has the change before it as its cause, and the one after it as its end', () => {
    const records = [
      BACK,
      failure('10:15:01', { count: 9 }),
      GONE,
      failure('10:16:10', { client: '10.244.2.3' }),
    ];
    const { verdict, episodes } = explain(records);
    expect(verdict).toEqual({
      outcome: 'failed',
      reason: 'no-such-service',
      sentence:
        'cart.shop.svc.cluster.local. failed 10 times for 2 clients: there is no service "cart" in namespace shop',
    });
    expect(episodes).toMatchObject([{ cause: GONE, end: BACK, from: iso('10:15:01'), to: iso('10:16:10') }]);
  });

  it('has no cause in a change that was over, or of another thing', () => {
    const records = [
      change('09:00:00', 'bad', 'service shop/cart was removed'),
      change('09:01:00', 'good', 'service shop/cart was added'),
      change('10:14:59', 'bad', 'service shop/till was removed', ['service shop/till']),
      failure('10:15:01'),
    ];
    expect(explain(records).episodes).toMatchObject([{ cause: undefined, end: undefined }]);
  });

  it('of upstream servers comes from the configuration that named them', () => {
    const about = ['upstream 10.0.0.9:53'];
    const configuration = change('10:14:40', 'either', 'another configuration is in force', [
      'configuration',
    ]);
    const records = [
      configuration,
      change('10:14:55', 'bad', 'upstream server 10.0.0.9:53 is down', about),
      failure('10:15:01', {
        name: 'www.corp.test.',
        rcode: 'SERVFAIL',
        reason: 'upstream-unreachable',
        about,
      }),
    ];
    expect(explain(records, 'www.corp.test').episodes[0]?.cause).toEqual(configuration);
  });

  describe('of which the server had a finding', () => {
    const finding = (time: string, effect: 'bad' | 'good', about = ['service shop/cart']) =>
      ({ ...change(time, effect, `finding at ${time}`, about), change: 'finding' }) as const;

    it.each([
      ['before', '10:14:55', '10:16:15'],
      ['after', '10:15:05', '10:16:25'],
    ])('%s the first failure and the change is explained by the change', (_, begun, ended) => {
      const records = [GONE, BACK, finding(begun, 'bad'), finding(ended, 'good')];
      const episode = explain([...records, failure('10:15:01'), failure('10:16:10')]).episodes[0];
      expect(episode).toMatchObject({ cause: GONE, end: BACK });
    });

    it.each(['10:14:45', '10:02:00'])('at %s, before the change, is explained by the change', (begun) => {
      const records = [finding(begun, 'bad'), GONE, failure('10:15:01')];
      expect(explain(records).episodes[0]?.cause).toEqual(GONE);
    });

    it('is explained by it, and not by the change that ended it', () => {
      const found = finding('10:14:55', 'bad');
      const changed = change('10:15:20', 'either', 'service shop/cart was changed');
      const records = [found, changed, failure('10:15:01'), failure('10:15:19')];
      expect(explain(records).episodes).toMatchObject([{ cause: found, end: changed }]);
    });

    it.each(['10:14:55', '10:15:05'])('is explained by it at %s if nothing was changed near it', (begun) => {
      const old = change('09:00:00', 'either', 'service shop/cart was changed');
      const found = finding(begun, 'bad');
      const ended = finding('10:16:25', 'good');
      const records = [old, found, ended, failure('10:15:01'), failure('10:16:10')];
      expect(explain(records).episodes).toMatchObject([{ cause: found, end: ended }]);
    });

    it('is explained by its objects, and not by its readiness', () => {
      const of = (time: string, effect: 'bad' | 'good', about: readonly string[]) =>
        change(time, effect, `${effect} at ${time}`, [...about]);
      const begun = of('10:14:40', 'bad', ['objects']);
      const ended = of('10:16:15', 'good', ['objects']);
      const readiness = ['server', 'readiness'];
      const noticed = [of('10:14:55', 'bad', readiness), of('10:16:14', 'good', readiness)];
      const about = ['objects', 'server'];
      const failed = ['10:15:01', '10:16:10'].map((time) => failure(time, { about }));
      expect(explain([begun, ended, ...noticed, ...failed]).episodes).toMatchObject([
        { cause: begun, end: ended },
      ]);
    });

    it('is explained by a configuration that is not in force', () => {
      const rejected = finding('10:14:55', 'bad', ['configuration']);
      const former = change('10:14:20', 'either', 'another configuration is in force', ['configuration']);
      const failed = failure('10:15:01', { about: ['upstream'] });
      expect(explain([former, rejected, failed]).episodes[0]?.cause).toEqual(rejected);
    });
  });

  it('that has more records than a call takes arguments is one', () => {
    const often = new Array<FailureRecord>(200_000).fill(failure('10:15:01'));
    expect(explain(often).episodes.map(({ count }) => count)).toEqual([200_000]);
  });

  it('near the minute is told as such', () => {
    expect(explain([failure('10:12:01')]).verdict.sentence).toMatch(
      /^not in this time, but near it: cart\.shop/,
    );
    expect(explain([failure('10:05:01')]).verdict.outcome).toBe('no-failure');
  });

  it('ends with a pause of more than five minutes', () => {
    const records = ['09:40:00', '09:44:00', '09:59:00'].map((time) => failure(time));
    const question = {
      name: 'cart.shop',
      from: at('09:00:00'),
      to: at('10:00:00'),
      namespace: undefined,
      client: undefined,
    };
    expect(explainPast(records, question, 0).episodes.map(({ count }) => count)).toEqual([2, 1]);
  });
});

describe('a name', () => {
  const names = (given: Partial<FailureRecord>, name: string, namespace?: string) =>
    explain([failure('10:15:01', given)], name, '10:15:00', namespace).episodes.map(
      (episode) => episode.name,
    );

  it.each([
    ['cart.shop', 'cart.shop.svc.cluster.local.'],
    ['cart.shop.svc.cluster.local.', 'cart.shop.svc.cluster.local.'],
    ['cart', 'cart.shop.svc.cluster.local.'],
    ['www.example.com', 'www.example.com.'],
    ['WWW.example.com', 'www.example.com.'],
    ['10.0.0.7', '7.0.0.10.in-addr.arpa.'],
  ])('%s may have been asked for as %s', (name, asked) => {
    expect(names({ name: asked }, name)).toEqual([asked]);
  });

  it.each([
    ['cart.shop.', 'cart.shop.svc.cluster.local.'],
    ['cart', 'carts.shop.svc.cluster.local.'],
    ['example.com', 'www.example.com.'],
  ])('%s is not %s', (name, asked) => {
    expect(names({ name: asked }, name)).toEqual([]);
  });

  it('is looked for in the namespace of its client', () => {
    expect(names({}, 'cart', 'web')).toEqual([]);
    expect(names({}, 'cart', 'shop')).toHaveLength(1);
  });

  it('that is meant hides those that the search list has made of it', () => {
    const records = [
      failure('10:15:01'),
      failure('10:15:02', { name: 'cart.shop.web.svc.cluster.local.', count: 5 }),
    ];
    const { episodes, otherNames } = explain(records);
    expect(episodes.map(({ name }) => name)).toEqual(['cart.shop.svc.cluster.local.']);
    expect(otherNames).toEqual({ 'cart.shop.web.svc.cluster.local.': 5 });
  });

  it('is found by its hash', () => {
    const name = hideText('cart.shop.svc.cluster.local.');
    expect(names({ name }, 'cart.shop')).toEqual([name]);
  });
});

describe('without a failure', () => {
  it('the state of the service is told', () => {
    expect(explain([change('09:00:00', 'good', 'it was added'), GONE]).verdict).toEqual({
      outcome: 'no-failure',
      sentence: 'no failure of cart.shop is known at this time, but service shop/cart was removed',
    });
    expect(explain([]).verdict.sentence).toBe('no failure of cart.shop is known at this time');
  });

  it('a history that begins later says nothing', () => {
    const question = {
      name: 'a',
      from: at('10:15:00'),
      to: at('10:15:59'),
      namespace: undefined,
      client: undefined,
    };
    expect(explainPast([], question, at('11:00:00')).verdict.outcome).toBe('unknown');
    expect(explainPast([], question, undefined).verdict.outcome).toBe('unknown');
  });
});

it('is shown as text, without the controls of a terminal', () => {
  const text = renderPast(explain([GONE, BACK, failure('10:15:01', { client: '\u001b[2J' })]));
  expect(text).toContain('  cause       2026-11-29 10:14:50  service shop/cart was removed\n');
  expect(text).toContain('  end         2026-11-29 10:16:20  service shop/cart was added\n');
  expect(text).not.toContain('\u001b');
});
