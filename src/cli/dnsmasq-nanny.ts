/**
 * `portolan dnsmasq-nanny`: dnsmasq-nanny and the dnsmasq that it minds, in one process.
 */
import { readArguments } from '../config/dnsmasq/arguments.ts';
import { EXIT } from '../config/dnsmasq/exit-codes.ts';
import type { DnsmasqPlan } from '../config/dnsmasq/plan.ts';
import { readDnsmasqOptions } from '../config/dnsmasq/read-options.ts';
import { readNannyFlags } from '../config/kube-dns/nanny-flags.ts';
import { systemClock } from '../ground/clock.ts';
import { Nanny } from '../server/dnsmasq/nanny.ts';
import { answerWithoutServing, reportProblems } from './dnsmasq.ts';
import { createProcessSources } from './dnsmasq-sources.ts';
import { runDnsmasqServer } from './run-dnsmasq.ts';

/** As Go's flag package exits for flags that it does not understand. */
const BAD_FLAGS = 2;

const HELP = `Usage: portolan dnsmasq-nanny [flags] -- [options of dnsmasq]

  -configDir DIR           the ConfigMap of kube-dns as files (default: /etc/k8s/dns/dnsmasq-nanny)
  -syncInterval DURATION   how often the folder is looked at where the system gives no notice (default: 10s)
  -logInterval DURATION    how often statistics are logged; 0 never does (default: 0s)
  -kubednsServer ADDRESS   who is asked for names of stub servers in the cluster (default: 127.0.0.1:10053)
  -restartDnsmasq          taken, and not needed: changes are taken in without a restart
  -dnsmasqExec PATH        taken, without effect: no other program is run
  -v, -logtostderr, ...    flags of klog: taken, without effect
`;

/** @param words what stands behind the command @returns the exit code */
export async function runDnsmasqNanny(words: readonly string[]): Promise<number> {
  const flags = readNannyFlags(words);
  if (flags.kind === 'help') {
    process.stderr.write(HELP);
    return EXIT.GOOD;
  }
  if (flags.kind === 'bad') {
    reportProblems('dnsmasq-nanny', flags.problems);
    return BAD_FLAGS;
  }
  const reading = readDnsmasqOptions(asRoot(flags.plan.dnsmasqWords), createProcessSources());
  const code = answerWithoutServing('dnsmasq-nanny', reading);
  if (code !== undefined || reading.kind !== 'good') return code ?? EXIT.OTHER;
  for (const note of flags.notes) process.stderr.write(`portolan dnsmasq-nanny: ${note}\n`);
  return await runDnsmasqServer({
    command: 'dnsmasq-nanny',
    plan: inForeground(reading.plan),
    notes: reading.notes,
    companion: (server, log) =>
      new Nanny({
        plan: flags.plan,
        onChange: (servers) => server.followNanny(servers),
        report: () => server.report(),
        ...{ clock: systemClock, log },
      }),
  });
}

/** The image of the nanny runs its dnsmasq as root, by that program's build. */
function asRoot(words: readonly string[]): readonly string[] {
  const namesUser = readArguments(words).some(
    (argument) => argument.kind !== 'wrong' && argument.option.name === 'user',
  );
  return namesUser ? words : ['--user=root', ...words];
}

/** Whoever minds a server does not let it slip away. */
function inForeground(plan: DnsmasqPlan): DnsmasqPlan {
  if (plan.process.mode !== 'background') return plan;
  return { ...plan, process: { ...plan.process, mode: 'foreground' } };
}
