/**
 * Runs the requested benchmarks and prints their results.
 */
import { parseArgs } from 'node:util';
import { measureBlocks } from './blocks.ts';
import { measureCached } from './cached.ts';
import { measureChange } from './change.ts';
import { measureCoreDns } from './coredns.ts';
import { measureCorefileForward } from './corefile-forward.ts';
import { measureCorefilePlugins } from './corefile-plugins.ts';
import { canSeparate, leaveServerCore } from './cores.ts';
import { measureEncrypted } from './encrypted.ts';
import { measureEtcd } from './etcd.ts';
import { measureFlood } from './flood.ts';
import { measureForward } from './forward.ts';
import { measureHostile } from './hostile.ts';
import { measureHosts } from './hosts.ts';
import { measureLoss } from './loss.ts';
import { describeMachine } from './machine.ts';
import { measureNodeCache } from './node-cache.ts';
import { measureNodeCacheForward } from './node-cache-forward.ts';
import { measureOccupied } from './occupied.ts';
import { measureOptions } from './options.ts';
import { isInstalled } from './programs.ts';
import { printReport, type Report } from './report.ts';
import { measureScale } from './scale.ts';
import { measureServe } from './serve.ts';
import { measureSlices } from './slices.ts';
import { measureStart } from './start.ts';
import type { Workplace } from './workplace.ts';

type Measure = (workplace: Workplace) => Promise<Report>;

const MEASUREMENTS: ReadonlyMap<string, Measure> = new Map([
  ['serve', measureServe],
  ['scale', measureScale],
  ['change', measureChange],
  ['slices', measureSlices],
  ['start', measureStart],
  ['blocks', measureBlocks],
  ['memory', measureOccupied],
  ['node-cache', measureNodeCache],
  ['node-cache-forward', measureNodeCacheForward],
  ['forward', measureForward],
  ['corefile-forward', measureCorefileForward],
  ['loss', measureLoss],
  ['cached', measureCached],
  ['flood', measureFlood],
  ['hostile', measureHostile],
  ['coredns', measureCoreDns],
  ['corefile-plugins', measureCorefilePlugins],
  ['options', measureOptions],
  ['encrypted', measureEncrypted],
  ['etcd', measureEtcd],
  ['hosts', measureHosts],
]);

const USAGE = `usage: npm run bench -- [MEASUREMENT...] [--rounds N] [--seconds N] [--json]

measurements, all of them unless named:
  serve      processor time per query, against the floor, Knot and dnsmasq
  scale      time to ready, memory and cost by the size of the cluster
  change     from a change in the API server to the new answer
  slices     forwarded questions beside changes of a service with 10,000 endpoints
  start      from the start of the process to its first answer, and what it then occupies, against CoreDNS
  blocks     the start of Corefiles with many server blocks, and what a block costs, against CoreDNS where COREDNS names its binary
  memory     what a resolver occupies after a load, and each thousand endpoints
  node-cache a node's cache: its start, and what it occupies, against NodeLocal DNSCache and CoreDNS
  node-cache-forward  the same kind of cache: processor time per new name, of the cluster by TCP and outside by UDP
  forward    processor time per query that goes upstream: new, expired and mixed names, against dnsmasq and Unbound
  corefile-forward  the same by a Corefile: plain, beside hosts and over TCP, against serve, Unbound, and CoreDNS where COREDNS names it
  loss       names resolved and their latency where packets to the upstream are lost: serve, a Corefile, Unbound, CoreDNS
  cached     processor time per query for a cached name, against the same
  flood      latency of table hits while names that do not exist are asked for
  hostile    what clients that attack the server cost all others
  coredns    processor time per query by six Corefiles (one also at a rate), against CoreDNS where COREDNS names its binary
  corefile-plugins  the same by view, file, dns64 and autopath
  options    cached and new names by a Corefile: with each kind of EDNS option, against those without
  encrypted  a cached name by TLS and HTTPS, against CoreDNS where COREDNS names its binary, with Unbound beside it
  hosts      a million names of hosts files: load, memory, reload and cost per query, against CoreDNS where COREDNS names it, and dnsmasq
  etcd       names from an etcd: processor time per query, against CoreDNS where COREDNS names its binary, and changes

  --rounds N    turns of every server (default: 5)
  --seconds N   length of a turn (default: 5)
  --json        print all stats as JSON

from the environment:
  COREDNS       the CoreDNS binary to compare with: start, blocks, change, node-cache, node-cache-forward, loss, corefile-forward, corefile-plugins, options, encrypted, hosts
  NODE_CACHE    NodeLocal DNSCache's binary: node-cache, node-cache-forward
  UNBOUND       the Unbound binary, where it is not the installed one: forward, corefile-forward, cached, encrypted, loss
  KUBECONFIG    the cluster to use instead of the API server's double: start, change
`;

interface Wishes {
  readonly measurements: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  readonly json: boolean;
}

/** @returns the exit code */
export async function main(
  args: readonly string[],
  places: { root: string; folder: string },
): Promise<number> {
  const wishes = readWishes(args);
  const missing = wishes === undefined ? undefined : ['dnsperf'].find((tool) => !isInstalled(tool));
  if (wishes === undefined || missing !== undefined) {
    process.stderr.write(
      missing === undefined ? USAGE : `${missing} not found: install the package ${missing}\n`,
    );
    return 2;
  }
  const say = (text: string) => void process.stderr.write(`  ${text}\n`);
  const machine = describeMachine();
  leaveServerCore();
  if (!canSeparate())
    say('one core, or no taskset: servers and clients share cores, expect unsteady figures');
  const { rounds, seconds } = wishes;
  const reports: Report[] = [];
  for (const name of wishes.measurements) {
    const report = await MEASUREMENTS.get(name)?.({ ...places, rounds, seconds, say });
    if (report === undefined) continue;
    reports.push(report);
    if (!wishes.json) process.stdout.write(`\n${printReport(report, machine)}\n\n`);
  }
  if (wishes.json) process.stdout.write(`${JSON.stringify({ machine, reports }, undefined, 2)}\n`);
  return 0;
}

function readWishes(args: readonly string[]): Wishes | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '5' },
        json: { type: 'boolean', default: false },
      },
    });
    const rounds = Number(values.rounds);
    const seconds = Number(values.seconds);
    const isKnown = positionals.every((name) => MEASUREMENTS.has(name));
    if (!isKnown || !(rounds >= 1) || !(seconds >= 1)) return undefined;
    const measurements = positionals.length > 0 ? positionals : [...MEASUREMENTS.keys()];
    return { measurements, rounds: Math.floor(rounds), seconds, json: values.json };
  } catch {
    return undefined;
  }
}
