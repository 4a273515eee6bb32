/**
 * Hosts files of a million names: what loading them costs in processor time and memory, what a reload costs while the former names are
 * asked for, and what a query costs then. Each figure of a load is that of a file with a million names less that with one.
 */
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from './child-process.ts';
import { DnsClient } from './dns-client.ts';
import { measureCost } from './dnsperf.ts';
import { findFreePort } from './free-port.ts';
import { machineTime } from './machine.ts';
import { readMemory } from './memory.ts';
import { saveLines } from './outside.ts';
import { readProcessTime } from './processor-time.ts';
import { isInstalled } from './programs.ts';
import { type Goal, printSummary, type Report } from './report.ts';
import { takeTurns } from './rounds.ts';
import { findCoreDns } from './servers/coredns.ts';
import { summarize } from './statistics.ts';
import type { Workplace } from './workplace.ts';

const NAMES = 1_000_000;
const ASKED = 10_000;
const PATIENCE_MILLISECONDS = 120_000;
/** The wait before memory is read: by then, memory that only the start needs is free. */
const SETTLE_MILLISECONDS = 4_000;
const GOALS = { megabytes: 100, seconds: 2, milliseconds: 100 };

interface Shape {
  readonly title: string;
  readonly type: 'A' | 'AAAA';
  /** Lines of so many names. */
  lines(names: number): readonly string[];
}

const makeName = (index: number) =>
  `host-${Math.imul(index, 0x9e3779b1) >>> 0}-${index}.zone${index % 5000}.example`;
const oneByOne = (address: (index: number) => string) => (names: number) =>
  Array.from({ length: names }, (_, index) => `${address(index)} ${makeName(index)}`);
const ipv4 = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
const ipv6 = (index: number) => `2001:db8::${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}`;

const SHAPES: readonly Shape[] = [
  { title: 'one address for all names', type: 'A', lines: oneByOne(() => '0.0.0.0') },
  { title: 'an IPv4 address for each name', type: 'A', lines: oneByOne(ipv4) },
  { title: 'an IPv6 address for each name', type: 'AAAA', lines: oneByOne(ipv6) },
  {
    title: 'four names in a line',
    type: 'A',
    lines: (names) =>
      Array.from({ length: Math.ceil(names / 4) }, (_, line) =>
        [ipv4(line), ...[0, 1, 2, 3].map((index) => makeName(4 * line + index))].join(' '),
      ),
  },
];

interface Contestant {
  readonly name: string;
  readonly isOurs: boolean;
  /** Whether it reads a changed file again by itself. */
  readonly follows: boolean;
  start(workplace: Workplace, hosts: string, port: number): Promise<ServerProcess>;
}

interface Row {
  readonly contestant: Contestant;
  readonly shape: Shape;
}

interface Result {
  /** Seconds of processor time until the last name is answered, and mebibytes without files. */
  readonly load: { readonly seconds: number; readonly megabytes: number };
  /** The same of a reload, and the longest that an answer took meanwhile, in milliseconds. */
  readonly reload: { readonly seconds: number; readonly longest: number } | undefined;
  /** Microseconds of processor time for a query. */
  readonly query: number;
}

export async function measureHosts(workplace: Workplace): Promise<Report> {
  const contestants = findContestants(workplace);
  const rows = SHAPES.flatMap((shape) => contestants.map((contestant): Row => ({ contestant, shape })));
  const turns = await takeTurns(rows, workplace.rounds, (row) => measureRow(workplace, row), workplace.say);
  const cell = (results: readonly Result[], digits: number, read: (result: Result) => number) =>
    printSummary(summarize(results.map(read)), digits);
  return {
    measurement: 'hosts',
    tables: [
      {
        title: `Hosts files of ${NAMES} names: seconds of processor time, MB, ms, and us for a query`,
        columns: ['', 'load', 'memory', 'reload', 'longest answer', 'query'],
        rows: turns.map(({ subject: { contestant, shape }, results }) => [
          `${contestant.name}, ${shape.title}`,
          cell(results, 2, ({ load }) => load.seconds),
          cell(results, 0, ({ load }) => load.megabytes),
          contestant.follows ? cell(results, 2, ({ reload }) => reload?.seconds ?? 0) : '',
          contestant.follows ? cell(results, 0, ({ reload }) => reload?.longest ?? 0) : '',
          cell(results, 1, ({ query }) => query),
        ]),
      },
    ],
    goals: turns
      .filter(({ subject }) => subject.contestant.isOurs)
      .flatMap(({ subject, results }) => judge(subject, results)),
    data: turns.map(({ subject, results }) => ({
      server: subject.contestant.name,
      shape: subject.shape.title,
      results,
    })),
  };
}

function judge({ contestant, shape }: Row, results: readonly Result[]): readonly Goal[] {
  const median = (read: (result: Result) => number) => summarize(results.map(read)).median;
  const of = `${contestant.name}, ${shape.title}`;
  return [
    { what: `load, ${of}`, value: median(({ load }) => load.seconds), limit: GOALS.seconds, unit: 's' },
    {
      what: `memory, ${of}`,
      value: median(({ load }) => load.megabytes),
      limit: GOALS.megabytes,
      unit: 'MB',
    },
    {
      what: `reload, ${of}`,
      value: median(({ reload }) => reload?.seconds ?? 0),
      limit: GOALS.seconds,
      unit: 's',
    },
    {
      what: `longest answer beside a reload, ${of}`,
      value: median(({ reload }) => reload?.longest ?? 0),
      limit: GOALS.milliseconds,
      unit: 'ms',
    },
  ];
}

function findContestants(workplace: Workplace): readonly Contestant[] {
  const ours = join(workplace.root, 'dist', 'portolan.js');
  const contestants: Contestant[] = [
    {
      name: 'portolan coredns',
      isOurs: true,
      follows: true,
      start: async (place, hosts, port) =>
        ServerProcess.start('portolan coredns', process.execPath, [
          ours,
          'coredns',
          '-conf',
          await writeCorefile(place, hosts, port),
        ]),
    },
    {
      name: 'portolan dnsmasq',
      isOurs: true,
      follows: true,
      start: (place, hosts, port) =>
        ServerProcess.start('portolan dnsmasq', process.execPath, [
          ours,
          'dnsmasq',
          ...dnsmasqFlags(place, hosts, port),
        ]),
    },
  ];
  const binary = findCoreDns();
  if (binary === undefined) workplace.say('no CoreDNS to compare with: name its binary in COREDNS');
  else
    contestants.push({
      name: 'CoreDNS',
      isOurs: false,
      follows: true,
      start: async (place, hosts, port) =>
        ServerProcess.start('CoreDNS', binary, ['-conf', await writeCorefile(place, hosts, port)]),
    });
  if (isInstalled('dnsmasq'))
    contestants.push({
      name: 'dnsmasq',
      isOurs: false,
      follows: false,
      start: (place, hosts, port) =>
        ServerProcess.start('dnsmasq', 'dnsmasq', [...dnsmasqFlags(place, hosts, port)]),
    });
  return contestants;
}

async function writeCorefile({ folder }: Workplace, hosts: string, port: number): Promise<string> {
  const path = join(folder, `Corefile-${port}`);
  await writeFile(path, `.:${port} {\n bind 127.0.0.1\n hosts ${hosts} {\n  reload 1s\n }\n}\n`);
  return path;
}

function dnsmasqFlags({ folder }: Workplace, hosts: string, port: number): readonly string[] {
  return [
    '--keep-in-foreground',
    '--conf-file=/dev/null',
    `--pid-file=${join(folder, `dnsmasq-${port}.pid`)}`,
    `--port=${port}`,
    '--listen-address=127.0.0.1',
    '--bind-interfaces',
    '--no-resolv',
    '--no-hosts',
    // Another user may not read the folder of the measurements.
    `--user=${userInfo().username}`,
    `--addn-hosts=${hosts}`,
  ];
}

async function measureRow(workplace: Workplace, { contestant, shape }: Row): Promise<Result> {
  const hosts = join(workplace.folder, 'hosts');
  const one = await runOnce(workplace, contestant, hosts, shape, 1);
  const all = await runOnce(workplace, contestant, hosts, shape, NAMES);
  const load = { seconds: all.seconds - one.seconds, megabytes: all.megabytes - one.megabytes };
  workplace.say(
    `${contestant.name}, ${shape.title}: ${load.seconds.toFixed(2)} s, ${load.megabytes.toFixed(0)} MB`,
  );
  return { load, reload: all.reload, query: all.query };
}

async function runOnce(
  workplace: Workplace,
  { name, follows, start }: Contestant,
  hosts: string,
  shape: Shape,
  names: number,
) {
  const lines = shape.lines(names);
  await writeFile(hosts, `${lines.join('\n')}\n`);
  const port = await findFreePort();
  const server = await start(workplace, hosts, port);
  const client = new DnsClient(port);
  try {
    const last = makeName(names - 1);
    if (!(await client.askUntil(last, shape.type, (data) => data.length > 0, PATIENCE_MILLISECONDS)))
      throw new Error(`${name} never answered: ${last}, ${PATIENCE_MILLISECONDS} ms`);
    const seconds = readProcessTime(server.pid) / 1000;
    await sleep(SETTLE_MILLISECONDS);
    const megabytes = readMemory(server.pid).anonymous;
    if (names === 1) return { seconds, megabytes, reload: undefined, query: 0 };
    const asked = Array.from(
      { length: ASKED },
      (_, index) => `${makeName(index * (NAMES / ASKED))} ${shape.type}`,
    );
    const questions = await saveLines(workplace, 'hosts', asked);
    const { perQuery } = await measureCost(server.pid, { port, questions, seconds: workplace.seconds });
    const reload = follows ? await measureReload(server, client, hosts, lines) : undefined;
    return { seconds, megabytes, reload, query: perQuery };
  } finally {
    client.close();
    await server.stop();
  }
}

/** Adds a name to the file. @returns the processor time until it is answered, and how long a former name took at most */
async function measureReload(
  server: ServerProcess,
  client: DnsClient,
  hosts: string,
  lines: readonly string[],
) {
  const before = readProcessTime(server.pid);
  await writeFile(hosts, `${lines.join('\n')}\n192.0.2.1 added.example\n`);
  let longest = 0;
  for (const end = machineTime() + PATIENCE_MILLISECONDS; machineTime() < end; ) {
    const began = machineTime();
    const added = await client.ask('added.example', 'A');
    longest = Math.max(longest, machineTime() - began);
    if ((added?.length ?? 0) > 0) return { seconds: (readProcessTime(server.pid) - before) / 1000, longest };
    await sleep(5);
  }
  throw new Error(`${server.name} never answered: added.example, ${PATIENCE_MILLISECONDS} ms`);
}
