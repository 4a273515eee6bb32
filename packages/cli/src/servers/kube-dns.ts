/**
 * `portolan kube-dns`: replaces kube-dns, with its command line.
 */
import {
  FURTHER_FLAGS,
  type GivenKubeDnsFlags,
  KUBE_DNS_FLAGS,
  readKubeDnsFlags,
} from '@portolan/frontends/kube-dns/settings/kube-dns-flags.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { countCores } from '@portolan/server/settings/cores.ts';
import { wrapWords } from '@portolan/server/settings/flags/flag-text.ts';
import type { RunCommand } from '../grammar/command.ts';
import { helpText } from '../grammar/help-text.ts';
import { printProblems, printVersion } from '../process/print-problems.ts';
import { createProcessSources } from './dnsmasq-sources.ts';
import { runServer } from './run-server.ts';

export const runKubeDns: RunCommand = async (words, command) => {
  const reading = readKubeDnsFlags(words, process.env);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText(command, KUBE_DNS_FLAGS, HELP));
      return 0;
    case 'version':
      printVersion('kube-dns 1.26');
      return 0;
    case 'flags':
      return await serve(reading);
  }
};

const HELP = {
  about: 'Serves the zone of a Kubernetes cluster as kube-dns does.',
  notes: `Flags may be written with one dash or two. Names outside the zone go to --nameservers, else to upstreamNameservers of
the ConfigMap, else to the servers of /etc/resolv.conf.

Environment: PROMETHEUS_PORT is the port of metrics under the names of SkyDNS, at PROMETHEUS_PATH (default: /metrics)
and with PROMETHEUS_NAMESPACE and PROMETHEUS_SUBSYSTEM (default: skydns) in front.

Flags of 'portolan serve' are accepted too; see its --help:
  ${wrapWords(
    FURTHER_FLAGS.map(({ name }) => `--${name}`),
    116,
  ).join('\n  ')}`,
};

async function serve({ flags, problems, notes }: GivenKubeDnsFlags): Promise<number> {
  const terminal = process.stderr.isTTY === true;
  const machine = { cores: countCores(), terminal, environment: process.env };
  const checked = planFromFlags(flags, machine, createProcessSources(), 'kube-dns');
  const all = [...problems, ...(checked.kind === 'bad' ? checked.problems : [])];
  printProblems('kube-dns', all);
  if (checked.kind === 'bad' || all.length > 0) return 2;
  for (const note of notes) process.stderr.write(`portolan kube-dns: ${note}\n`);
  return await runServer(checked.value, 'kube-dns');
}
