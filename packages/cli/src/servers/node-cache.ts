/**
 * `portolan node-cache`: replaces NodeLocal DNSCache's program, with its command line.
 */
import { createCoreDnsLog } from '@portolan/frontends/coredns/run/coredns-log.ts';
import {
  NODE_CACHE_FLAGS,
  readNodeCacheFlags,
} from '@portolan/frontends/node-cache/settings/node-cache-flags.ts';
import type { NodeCachePlan } from '@portolan/frontends/node-cache/settings/node-cache-plan.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { logLinesTo } from '@portolan/kernel/base/log-output.ts';
import { needPrograms } from '@portolan/kernel/base/other-programs.ts';
import type { RunCommand } from '../grammar/command.ts';
import { EITHER_DASHES, helpText } from '../grammar/help-text.ts';
import { printProblems } from '../process/print-problems.ts';
import { printAbout } from './coredns.ts';
import { NodeSetup, setUpNetwork } from './node-setup.ts';
import { serveCorefile } from './serve-corefile.ts';

export const runNodeCache: RunCommand = async (words, command) => {
  const reading = readNodeCacheFlags(words);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText(command, NODE_CACHE_FLAGS, HELP));
      return 0;
    case 'version':
    case 'plugins':
      return printAbout(reading.kind);
    case 'bad':
      printProblems('node-cache', reading.problems);
      return 1;
    case 'good': {
      const isDebug = reading.logLevel === 'debug';
      const log = createCoreDnsLog({ isDebug, write: logLinesTo(process.stdout) });
      return await (reading.plan.setsUpOnly ? setUpNetwork : serve)(reading.plan, log);
    }
  }
};

const HELP = {
  about: `Caches the DNS of a node: renders a Corefile from its template and the ConfigMap of kube-dns, sets up the addresses that
pods send their queries to, and serves it.`,
  notes: EITHER_DASHES,
};

async function serve(plan: NodeCachePlan, log: Log): Promise<number> {
  needPrograms('node-cache runs ip and iptables');
  const setup = new NodeSetup(plan, log);
  try {
    const flags = { ...plan, conf: plan.corefile, port: String(plan.port) };
    return await serveCorefile(flags, setup.program);
  } finally {
    await setup.end();
  }
}
