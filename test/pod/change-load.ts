/**
 * Load while the configuration changes: questions whose answers must not change, and a count of lost ones.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { expect } from 'vitest';
import { BurstLoad } from '../support/burst-load.ts';
import { SHARED_DOMAIN } from './upstream.ts';

/** More than dnsmasq's cache holds, so that many are asked for upstream at any moment. */
const OUTSIDE = Array.from({ length: 2_000 }, (_, index) => ({
  name: `n${index}.${SHARED_DOMAIN.name}`,
  answer: SHARED_DOMAIN.answer,
}));
const INSIDE = [
  { name: 'kubernetes.default.svc.cluster.local', answer: '10.96.0.1' },
  { name: 'Cart.Shop.svc.cluster.local', answer: '10.96.10.10' },
  { name: 'none.shop.svc.cluster.local', answer: 'NXDOMAIN' },
];
const STEADY = OUTSIDE.flatMap((outside) => [outside, ...INSIDE]);

/**
 * Runs `change` under load, which is shown to flow before and after.
 *
 * @param entry from `bundleBurstLoad`
 */
export async function underLoad(entry: URL, server: DnsServer, change: () => Promise<void>): Promise<void> {
  const load = new BurstLoad(entry, { ...server, questions: STEADY, sockets: 16, burst: 10, every: 10 });
  const flow = async () => {
    const before = load.answered;
    await waitUntil('answers', () => load.answered > before + 200, { deadline: 30_000 });
  };
  await flow();
  await change();
  await flow();
  await load.stop();
  const { lost, wrong, refused, asked, answered } = load;
  expect({ lost, wrong, refused, unanswered: asked - answered }).toEqual({
    lost: 0,
    wrong: 0,
    refused: 0,
    unanswered: 0,
  });
}
