import { ROOT } from '@portolan/dns/name.ts';
import type { RateLimits } from '@portolan/plugin';
import { expect, it } from 'vitest';
import { type LimitedSite, StatedRates } from './block-limits.ts';

const LIMITS: RateLimits = {
  zones: [ROOT],
  prefixLengths: { ipv4: 24, ipv6: 56 },
  requestsPerSecond: 5,
  responsesPerSecond: { response: 0, nodata: 0, nxdomain: 0, referral: 0, error: 0 },
  slip: 0,
  window: 15_000,
  maxCounts: 100,
  reportsOnly: false,
  exceeded: { requests: [], responses: [] },
};
const SITES: readonly LimitedSite[] = ['dns://.:53', 'tls://.:853'].map((server) => ({ server, view: '' }));
const SAME_SITES = SITES.flatMap((site) => [site, site]);

const state = (sites: readonly LimitedSite[], former: readonly StatedRates[], limits = LIMITS) => {
  const left = [...former];
  return sites.map((site) => new StatedRates(limits, site, left));
};
const listAccounts = (rates: readonly StatedRates[]) => rates.map((each) => each.ratesAt('any').accounts);

it('keeps the accounts of each handler over plans, though others have the same rates', () => {
  const former = state(SAME_SITES, []);
  const accounts = listAccounts(former);
  expect(new Set(accounts).size).toBe(4);
  const next = listAccounts(state(SAME_SITES, former));
  for (const [place, each] of next.entries()) expect(each).toBe(accounts[place]);
  const turned = listAccounts(state(SITES.toReversed(), former));
  expect(turned[0]).toBe(accounts[2]);
  expect(turned[1]).toBe(accounts[0]);
});

it('begins other accounts for other rates, zones or views', () => {
  const former = state(SITES, []);
  const known = new Set(listAccounts(former));
  const changed = [
    ...state(SITES, former, { ...LIMITS, requestsPerSecond: 6 }),
    ...state(SITES, former, { ...LIMITS, zones: [] }),
    ...state(
      SITES.map((site) => ({ ...site, view: 'inner' })),
      former,
    ),
  ];
  for (const each of listAccounts(changed)) expect(known.has(each)).toBe(false);
});
