import { describe, expect, it } from 'vitest';
import { type AnsweredStep, compareLibraries, conclude, listWalkRemedies } from './conclude.ts';
import { listCandidates, makeClusterFirstSearchList, stepAfter } from './search-walk.ts';

const POD = { search: makeClusterFirstSearchList('web', 'cluster.local.'), ndots: 5 };

describe('the names of a walk', () => {
  it.each([
    [
      'glibc',
      'cart.shop',
      5,
      [
        'cart.shop.web.svc.cluster.local.',
        'cart.shop.svc.cluster.local.',
        'cart.shop.cluster.local.',
        'cart.shop.',
      ],
    ],
    [
      'glibc',
      'cart.shop',
      1,
      [
        'cart.shop.',
        'cart.shop.web.svc.cluster.local.',
        'cart.shop.svc.cluster.local.',
        'cart.shop.cluster.local.',
      ],
    ],
    ['musl', 'cart.shop', 1, ['cart.shop.']],
    [
      'go',
      'cart.shop',
      1,
      [
        'cart.shop.',
        'cart.shop.web.svc.cluster.local.',
        'cart.shop.svc.cluster.local.',
        'cart.shop.cluster.local.',
      ],
    ],
    ['glibc', 'cart.shop.', 5, ['cart.shop.']],
  ] as const)('of %s for %s with ndots %d', (library, name, ndots, names) => {
    expect(listCandidates(name, { ...POD, ndots }, library)).toEqual(names);
  });

  it('are no longer than names may be', () => {
    const long = 'x'.repeat(60);
    expect(listCandidates(`${long}.${long}.${long}.${long}`, POD, 'glibc')).toHaveLength(1);
  });

  it('end with an answer, and with failures where the library gives up', () => {
    expect(
      (['answer', 'nxdomain', 'nodata', 'servfail', 'refused'] as const).map((outcome) => [
        outcome,
        ...(['glibc', 'musl', 'go'] as const).map((library) => stepAfter(outcome, library, false)),
      ]),
    ).toEqual([
      ['answer', 'stop', 'stop', 'stop'],
      ['nxdomain', 'next', 'next', 'next'],
      ['nodata', 'next', 'stop', 'next'],
      ['servfail', 'next', 'stop', 'next'],
      ['refused', 'as-given', 'stop', 'next'],
    ]);
    expect(stepAfter('refused', 'glibc', true)).toBe('next');
  });
});

function makeStep(name: string, changes: Partial<AnsweredStep>): AnsweredStep {
  return {
    name,
    type: 'A',
    rcode: 'NXDOMAIN',
    outcome: 'nxdomain',
    source: 'cluster',
    zone: '.',
    plugin: 'kubernetes',
    records: [],
    addresses: [],
    ...changes,
  };
}

const MISSING = makeStep('cart.web.svc.cluster.local.', {
  reason: {
    kind: 'no-such-service',
    service: 'cart',
    namespace: 'web',
    near: [{ service: 'cart', namespace: 'shop', distance: 0 }],
  },
});

describe('the verdict', () => {
  it('is the first answer, and what it took', () => {
    const answers = [
      MISSING,
      makeStep('cart.svc.cluster.local.', {}),
      makeStep('cart.cluster.local.', {
        outcome: 'answer',
        rcode: 'NOERROR',
        addresses: ['10.0.0.1', '10.0.0.2'],
      }),
      makeStep('cart.', {}),
    ];
    const { verdict, steps } = conclude('cart', POD, answers, 'glibc');
    expect(verdict).toEqual({
      outcome: 'resolves',
      sentence: 'resolves to 10.0.0.1 and 1 more, after 2 other questions',
      addresses: ['10.0.0.1', '10.0.0.2'],
    });
    expect(steps.map(({ isReached }) => isReached)).toEqual([true, true, true, false]);
  });

  it('is the reason of the name that was meant', () => {
    const answers = [
      MISSING,
      makeStep('cart.', { reason: { kind: 'not-forwarded', detail: 'no server' }, outcome: 'refused' }),
    ];
    const walk = conclude('cart', POD, answers, 'glibc');
    expect(walk.verdict).toMatchObject({ outcome: 'fails', reason: 'no-such-service' });
    expect(listWalkRemedies('cart', walk)[0]).toEqual({ sentence: 'Use cart.shop' });
  });

  it('of an outside name is that of the name itself', () => {
    const answers = [
      makeStep('github.com.web.svc.cluster.local.', {
        reason: { kind: 'no-such-service', service: 'com', namespace: 'web', near: [] },
      }),
      makeStep('github.com.', { reason: { kind: 'upstream-said', rcode: 'NXDOMAIN', age: 3, left: 27 } }),
    ];
    expect(conclude('github.com', POD, answers, 'glibc').verdict).toMatchObject({
      reason: 'upstream-said',
      sentence: 'does not resolve: an upstream server said NXDOMAIN 3 s ago, kept for another 27 s',
    });
  });

  it('is unknown where an upstream server would have to be asked', () => {
    const answers = [
      makeStep('a.b.', {
        outcome: 'unknown',
        source: 'not-asked',
        rcode: undefined,
        servers: ['10.0.0.2:53'],
      }),
    ];
    const { verdict } = conclude('a.b.', POD, answers, 'glibc');
    expect(verdict).toMatchObject({
      outcome: 'unknown',
      sentence: expect.stringContaining('would be asked of 10.0.0.2:53'),
    });
  });

  it('is what the cluster says of a service, also where an upstream server would have to be asked', () => {
    const open = makeStep('cart.', {
      outcome: 'unknown',
      source: 'not-asked',
      rcode: undefined,
      servers: ['10.0.0.2:53'],
    });
    const walk = conclude('cart', POD, [MISSING, open], 'glibc');
    expect(walk.verdict).toEqual({
      outcome: 'fails',
      sentence:
        'does not resolve in the cluster: there is no service "cart" in namespace web. Did you mean cart.shop? Whether cart. exists outside is not known: add --ask to ask 10.0.0.2:53',
      addresses: [],
      reason: 'no-such-service',
    });
    expect(listWalkRemedies('cart', walk)[0]).toEqual({ sentence: 'Use cart.shop' });
  });

  it.each(['upstream', 'cache', 'stale'] as const)(
    'says that an answer from %s is not that of the service which was meant',
    (source) => {
      const stranger = makeStep('cart.', {
        outcome: 'answer',
        rcode: 'NOERROR',
        source,
        addresses: ['203.0.113.7'],
      });
      const walk = conclude('cart', POD, [MISSING, stranger], 'glibc');
      expect(walk.verdict).toMatchObject({ outcome: 'resolves', reason: 'no-such-service' });
      expect(walk.verdict.sentence).toMatch(
        /^resolves to 203\.0\.113\.7.*, outside of the cluster: there is no service "cart" in namespace web$/,
      );
      expect(listWalkRemedies('cart', walk).map(({ sentence }) => sentence)).toEqual([
        'Use cart.shop',
        'Create the service cart in namespace web, or correct the name.',
      ]);
    },
  );

  it('takes a name of one label for one of the outside, if no service is named alike', () => {
    const missing = makeStep('intranet.web.svc.cluster.local.', {
      reason: { kind: 'no-such-service', service: 'intranet', namespace: 'web', near: [] },
    });
    const answer = makeStep('intranet.', {
      outcome: 'answer',
      rcode: 'NOERROR',
      source: 'upstream',
      addresses: ['203.0.113.7'],
    });
    const { verdict } = conclude('intranet', POD, [missing, answer], 'glibc');
    expect(verdict.reason).toBeUndefined();
  });

  it('is that of the name as given, after a refusal in the search list of glibc', () => {
    const answers = [
      makeStep('x.a.test.', { outcome: 'refused', rcode: 'REFUSED' }),
      makeStep('x.b.test.', { outcome: 'answer', rcode: 'NOERROR', addresses: ['10.0.0.1'] }),
      makeStep('x.', { outcome: 'answer', rcode: 'NOERROR', addresses: ['10.0.0.2'] }),
    ];
    const { verdict, steps } = conclude('x', { search: ['a.test', 'b.test'], ndots: 1 }, answers, 'glibc');
    expect(verdict.addresses).toEqual(['10.0.0.2']);
    expect(steps.map(({ isReached }) => isReached)).toEqual([true, false, true]);
  });

  it('of other libraries is told where it differs', () => {
    const settings = { search: ['a.test'], ndots: 1 };
    const answers = [
      makeStep('x.y.', {}),
      makeStep('x.y.a.test.', { outcome: 'answer', rcode: 'NOERROR', addresses: ['10.0.0.1'] }),
    ];
    expect(conclude('x.y', settings, answers, 'glibc').verdict.outcome).toBe('resolves');
    expect(compareLibraries('x.y', settings, answers, 'glibc')).toEqual([
      { resolver: 'musl', sentence: 'does not resolve' },
    ]);
  });
});
