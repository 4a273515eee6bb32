/**
 * `portolan corefile explain`: prints the server blocks and plugins that a question passes. It starts only `forward`, which finds its
 * servers, and asks none of them.
 */
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { describeCorefileProblem } from '@portolan/corefile/syntax/findings.ts';
import { parseAddress } from '@portolan/dns/address.ts';
import { parseType } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Question } from '@portolan/dns/types.ts';
import { compileCorefile } from '@portolan/frontends/coredns/settings/compile-corefile.ts';
import type { CorefileExplainFlags } from '@portolan/frontends/coredns/settings/explain-flags.ts';
import { readCorefile, type ServerBlock } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { createInternalQuery } from '@portolan/kernel/chain/internal-query.ts';
import { loadPlugins } from '@portolan/kernel/contract/plugin-use.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import type {
  ExplainedBlock,
  ExplainedGroup,
  ReaderPart,
} from '@portolan/kernel/engine/server-blocks/explain-question.ts';
import { pluginUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { ExitError } from '../grammar/exit.ts';
import { VERSION } from '../process/version.ts';
import { loadPluginsOrExit } from '../servers/load-outside-plugins.ts';
import { addressesByInterface } from '../servers/machine-interfaces.ts';
import { readCorefileText, STANDARD_INPUT } from './read-text.ts';

/** @throws ExitError with 1 for a Corefile with problems, with 2 for wrong arguments */
export async function explainName(name: string, type: string, flags: CorefileExplainFlags): Promise<void> {
  const { conf = 'Corefile', client = '127.0.0.1' } = flags;
  const question = readQuestion(name, type);
  if (parseAddress(client) === undefined) fail(`--client: not an address: ${client}`, 2);
  await loadPluginsOrExit(flags);
  const plan = compileCorefile(readBlocks(conf)).engine;
  await loadPlugins(pluginUses(plan));
  const engine = new Engine(plan, { readers: 1, version: VERSION, clock: systemClock, log: silentLog });
  try {
    await engine.serverBlocks.startForwarders().catch((error: unknown) => {
      const reason = describeError(error);
      process.stderr.write(`portolan corefile explain: forward has no servers here: ${reason}\n`);
    });
    const { header, edns } = createInternalQuery(question, { dnssecOk: false, checkingDisabled: false });
    const asked = { kind: 'query', header, question, edns, authorities: [] } as const;
    const explained = engine.serverBlocks.explain(asked, { address: client, port: 0, transport: 'udp' });
    process.stdout.write(describe(`${name} ${type}`, explained));
  } finally {
    await engine.stop();
  }
}

function readQuestion(name: string, type: string): Question {
  const number = parseType(type.toUpperCase());
  if (number === undefined) fail(`not a type: ${type}. Give one as in AAAA.`, 2);
  try {
    return { name: parseName(name), type: number, class: CLASS.IN };
  } catch (error) {
    return fail(`not a name: ${name}: ${describeError(error)}`, 2);
  }
}

function readBlocks(file: string): readonly ServerBlock[] {
  const reading = readCorefile(readCorefileText(file), {
    file: file === STANDARD_INPUT ? 'stdin' : file,
    profile: '1.14',
    defaultPort: 53,
    environment: process.env,
    files: DISK_FILES,
    interfaces: addressesByInterface(),
  });
  if (reading.kind === 'good') return reading.blocks;
  for (const problem of reading.problems) process.stderr.write(`${describeCorefileProblem(problem)}\n`);
  throw new ExitError(1);
}

function describe(question: string, groups: readonly ExplainedGroup[]): string {
  return groups
    .map(({ server, block }) =>
      block === undefined
        ? `${server}: no server block accepts ${question}: REFUSED\n`
        : `${server}: the server block of ${block.zone}${block.view === '' ? '' : ` with the view ${block.view}`} treats ${question}\n${describeBlock(block)}`,
    )
    .join('\n');
}

const READER_PARTS: Readonly<Record<ReaderPart, string>> = {
  names: 'answer from the names in the table',
  cache: 'repeat answers that the cache holds',
  derived: 'repeat answers that the plugins have made since the last change',
  forwards: 'ask the servers of forward',
};

function describeBlock({ plugins, readers }: ExplainedBlock): string {
  const width = Math.max(0, ...plugins.map(({ name }) => name.length));
  const parts = readers.map((part) => READER_PARTS[part]);
  const threads = parts.length === 0 ? 'leave it to the plugins' : parts.join(', ');
  return [
    ...plugins.map(({ name, part }) => `  ${name.padEnd(width)}  ${part}`),
    `  readers ${threads}`,
    '',
  ].join('\n');
}

function fail(message: string, code: 1 | 2): never {
  process.stderr.write(`portolan corefile explain: ${message}\n`);
  throw new ExitError(code);
}
