/**
 * The cost of a query by TLS and by HTTPS: ours against CoreDNS, with Unbound's figure beside it, taking turns.
 *
 * All of them answer one name from their cache, so the rest is what the transport costs.
 */
import { join } from 'node:path';
import { encode, RECURSION_DESIRED } from 'dns-packet';
import { type Contestant, type CostTurns, judgeCosts, listCosts, printCosts } from './costs.ts';
import { type Cost, type LoadReport, putLoad } from './dnsperf.ts';
import { findFreePort } from './free-port.ts';
import { putHttpLoad, saveQuery } from './h2load.ts';
import { KNOWN, saveLines } from './outside.ts';
import { readThreadTimes, sumTimes, timesBetween } from './processor-time.ts';
import { isInstalled } from './programs.ts';
import type { Report } from './report.ts';
import { takeTurns } from './rounds.ts';
import { startCoreDns, startPortolanCorefile, type WriteCorefile } from './servers/corefile-servers.ts';
import type { DnsServer } from './servers/server.ts';
import { findUnbound, startUnbound } from './servers/unbound.ts';
import { startUpstream } from './servers/upstream.ts';
import type { Workplace } from './workplace.ts';

/** How many times CoreDNS's cost ours may be at most. */
const GOAL = 1;
const MODERATE_RATE = 8_000;
const OUTSTANDING = 64;
const IDENTITY = 'test/api-server/tls';

/** The ports of a server that answers by TLS and by HTTPS too. */
interface SecurePorts {
  readonly tls: number;
  readonly https: number;
}

interface SecureServer extends Contestant {
  readonly ports: SecurePorts;
}

interface SecureLoad {
  readonly name: string;
  put(ports: SecurePorts): Promise<LoadReport>;
}

export async function measureEncrypted(workplace: Workplace): Promise<Report> {
  const upstream = await startUpstream(workplace);
  const servers: SecureServer[] = [];
  try {
    await startServers(workplace, upstream.port, servers);
    const measured: { readonly name: string; readonly turns: CostTurns }[] = [];
    for (const load of await listLoads(workplace))
      measured.push({ name: load.name, turns: await measureLoad(workplace, servers, load) });
    return {
      measurement: 'encrypted',
      tables: measured.map(({ name, turns }) => printCosts(name, turns)),
      goals: measured.flatMap(({ name, turns }) => judgeCosts(turns, `, ${name}`)),
      data: measured.map(({ name, turns }) => ({ name, costs: listCosts(turns) })),
    };
  } finally {
    await Promise.all([...servers, upstream].map((server) => server.process.stop()));
  }
}

/** @param into where each is put once it has started, so that it is stopped whatever fails */
async function startServers(workplace: Workplace, upstreamPort: number, into: SecureServer[]): Promise<void> {
  const { COREDNS: binary } = process.env;
  const start = async (open: (ports: SecurePorts) => Promise<DnsServer>, goal?: number): Promise<void> => {
    const ports = { tls: await findFreePort(), https: await findFreePort() };
    into.push({ ...(await open(ports)), ports, ...(goal !== undefined && { goal }) });
  };
  const byCorefile = (ports: SecurePorts) => ({
    corefile: writeCorefile(workplace, upstreamPort, ports),
    probe: KNOWN,
  });
  await start((ports) => startPortolanCorefile(workplace, byCorefile(ports)));
  if (binary === undefined) workplace.say('COREDNS names no binary: nothing to compare with');
  else await start((ports) => startCoreDns(workplace, binary, byCorefile(ports)), GOAL);
  if (isInstalled(findUnbound()))
    await start((ports) => startUnbound(workplace, upstreamPort, encryptUnbound(workplace, ports)));
}

/** Reads the identity of this benchmark's servers. */
function toIdentityFiles({ root }: Workplace): { readonly certificate: string; readonly key: string } {
  return { certificate: join(root, IDENTITY, 'server.crt'), key: join(root, IDENTITY, 'server.key') };
}

function writeCorefile(
  workplace: Workplace,
  upstreamPort: number,
  { tls, https }: SecurePorts,
): WriteCorefile {
  const { certificate, key } = toIdentityFiles(workplace);
  const plugins = ['bind 127.0.0.1', 'cache 30', `forward . 127.0.0.1:${upstreamPort}`];
  const block = (where: string, ...more: readonly string[]) =>
    [`${where} {`, ...[...plugins, ...more].map((line) => `  ${line}`), '}', ''].join('\n');
  const identity = `tls ${certificate} ${key}`;
  return (port) =>
    block(`.:${port}`) + block(`tls://.:${tls}`, identity) + block(`https://.:${https}`, identity);
}

function encryptUnbound(workplace: Workplace, { tls, https }: SecurePorts): readonly string[] {
  const { certificate, key } = toIdentityFiles(workplace);
  return [
    `interface: 127.0.0.1@${tls}`,
    `interface: 127.0.0.1@${https}`,
    `tls-port: ${tls}`,
    `https-port: ${https}`,
    `tls-service-pem: "${certificate}"`,
    `tls-service-key: "${key}"`,
  ];
}

async function listLoads(workplace: Workplace): Promise<readonly SecureLoad[]> {
  const { seconds } = workplace;
  const questions = await saveLines(workplace, 'encrypted', [`${KNOWN} A`]);
  const overTls = (name: string, rate?: number): SecureLoad => ({
    name,
    put: ({ tls: port }) =>
      putLoad({
        port,
        questions,
        seconds,
        outstanding: OUTSTANDING,
        transport: 'dot',
        ...(rate && { rate }),
      }),
  });
  const loads = [overTls(`TLS, ${MODERATE_RATE} a second`, MODERATE_RATE), overTls('TLS, full load')];
  if (!isInstalled('h2load')) {
    workplace.say('h2load is not installed: no figures of HTTPS');
    return loads;
  }
  const questionsOfQuery = [{ type: 'A', name: KNOWN }] as const;
  const octets = encode({ type: 'query', id: 0, flags: RECURSION_DESIRED, questions: [...questionsOfQuery] });
  const query = await saveQuery(workplace.folder, octets);
  return [
    ...loads,
    { name: 'HTTPS, full load', put: ({ https: port }) => putHttpLoad({ port, query, seconds }) },
  ];
}

function measureLoad(
  { rounds, say }: Workplace,
  servers: readonly SecureServer[],
  load: SecureLoad,
): Promise<CostTurns> {
  const measure = async ({ name, process, ports }: SecureServer): Promise<Cost> => {
    const before = readThreadTimes(process.pid);
    const report = await load.put(ports);
    const threads = timesBetween(before, readThreadTimes(process.pid));
    const perQuery = sumTimes(threads) / report.completed;
    say(`${load.name}: ${name}: ${perQuery.toFixed(2)} us a query, ${report.lost} lost`);
    return { ...report, threads, perQuery };
  };
  return takeTurns(servers, rounds, measure, say);
}
