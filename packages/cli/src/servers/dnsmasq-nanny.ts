/**
 * `portolan dnsmasq-nanny`: replaces dnsmasq-nanny and its dnsmasq in one process.
 */
import { Nanny } from '@portolan/frontends/dnsmasq/run/nanny.ts';
import { readArguments } from '@portolan/frontends/dnsmasq/settings/arguments.ts';
import type { DnsmasqPlan } from '@portolan/frontends/dnsmasq/settings/dnsmasq-plan.ts';
import { EXIT } from '@portolan/frontends/dnsmasq/settings/exit-codes.ts';
import type { NannyServers } from '@portolan/frontends/dnsmasq/settings/forward-plan.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import {
  NANNY_FLAGS,
  type NannyPlan,
  readNannyFlags,
} from '@portolan/frontends/kube-dns/settings/nanny-flags.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findDefaultDrain } from '@portolan/server/plan/drain.ts';
import type { RunCommand } from '../grammar/command.ts';
import { helpText } from '../grammar/help-text.ts';
import type { Companion } from '../process/life-cycle.ts';
import { listProblems } from '../process/print-problems.ts';
import { answerWithoutServing } from './answer-dnsmasq-options.ts';
import { createProcessSources } from './dnsmasq-sources.ts';
import type { CompanionContext } from './open-dnsmasq.ts';
import { runDnsmasqServer } from './run-dnsmasq.ts';

/** Go's flag package exits with this code for invalid flags. */
const BAD_FLAGS = 2;

export const runDnsmasqNanny: RunCommand = async (words, command) => {
  const flags = readNannyFlags(words);
  if (flags.kind === 'help') {
    const about =
      "Does the work of dnsmasq, with the stub domains and upstream servers of kube-dns's ConfigMap.";
    const usage = 'dnsmasq-nanny [flags] -- [options of dnsmasq]';
    process.stdout.write(helpText(command, NANNY_FLAGS, { usage, about }));
    return EXIT.GOOD;
  }
  if (flags.kind === 'bad') {
    listProblems('dnsmasq-nanny', 'options', flags.problems);
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
    drain: findDefaultDrain(process.env),
    accompany: (context) => accompanyAsNanny(flags.plan, context),
  });
};

/** Follows the ConfigMap until the server begins to stop. */
function accompanyAsNanny(plan: NannyPlan, { frontEnd, report, log }: CompanionContext): Companion {
  const onChange = (servers: NannyServers) => frontEnd.followNanny(servers);
  const nanny = new Nanny({ plan, onChange, report, clock: systemClock, log });
  const stop = () => nanny.stop();
  return { start: () => nanny.start(), leave: stop, stop };
}

/** The dnsmasq build in the nanny's image runs as root by default. */
function asRoot(words: readonly string[]): readonly string[] {
  const namesUser = readArguments(words).some(
    (argument) => argument.kind !== 'wrong' && argument.option.name === 'user',
  );
  return namesUser ? words : ['--user=root', ...words];
}

/** The supervised server must stay in the foreground. */
function inForeground(plan: DnsmasqPlan): DnsmasqPlan {
  if (plan.process.mode !== 'background') return plan;
  return { ...plan, process: { ...plan.process, mode: 'foreground' } };
}
