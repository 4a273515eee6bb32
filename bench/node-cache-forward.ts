/**
 * What new names cost by the Corefile of a node's cache, against NodeLocal DNSCache and CoreDNS: those of the cluster go to its DNS
 * server by TCP, those outside by UDP.
 */
import { KNOWN, listNewNames } from './outside.ts';
import type { Report } from './report.ts';
import { measureResolvers } from './resolver-costs.ts';
import { findNodeCaches } from './servers/node-cache.ts';
import type { StartContestants } from './servers/resolvers.ts';
import { waitUntilAnswers } from './servers/server.ts';
import type { Workplace } from './workplace.ts';

const RATE = 3_000;
const OUTSTANDING = 100;
/** How many times the cost of the others ours may be. */
const GOAL = 0.6;

export function measureNodeCacheForward(workplace: Workplace): Promise<Report> {
  return measureResolvers(workplace, {
    measurement: 'node-cache-forward',
    goals: {},
    start,
    rate: RATE,
    outstanding: OUTSTANDING,
    mayRepeat: false,
    listQuestions: (turn) => listNewNames(turn, Math.max(workplace.seconds, 3), 'there', 'live-300'),
  });
}

const start: StartContestants = async (workplace, upstreamPort, _, contestants) => {
  for (const [index, { name, begin }] of findNodeCaches().entries()) {
    const server = await begin(workplace, upstreamPort);
    contestants.push({ ...server, name, ...(index > 0 && { goal: GOAL }) });
    await waitUntilAnswers(server.process, server.port, KNOWN);
  }
};
