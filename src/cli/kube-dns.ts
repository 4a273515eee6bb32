/**
 * `portolan kube-dns`: kube-dns, with its command line.
 */
import { countCores } from '../config/cores.ts';
import {
  type GivenKubeDnsFlags,
  KUBE_DNS_FLAGS,
  readKubeDnsFlags,
} from '../config/kube-dns/kube-dns-flags.ts';
import { describeProblem } from '../config/problem.ts';
import { planFromFlags } from '../config/serve-flags.ts';
import { createProcessSources } from './dnsmasq-sources.ts';
import { ExitError } from './exit.ts';
import { runServer } from './run-server.ts';
import { SERVE_FLAG_SHAPES } from './serve-options.ts';
import { VERSION } from './version.ts';

/** @param words what stands behind the command @returns the exit code */
export async function runKubeDns(words: readonly string[]): Promise<number> {
  const reading = readKubeDnsFlags(words, SERVE_FLAG_SHAPES, process.env);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText());
      return 0;
    case 'version':
      process.stdout.write(`Portolan version ${VERSION}, in place of kube-dns 1.26\n`);
      return 0;
    case 'flags':
      return await serve(reading);
  }
}

async function serve({ flags, problems, notes }: GivenKubeDnsFlags): Promise<number> {
  const terminal = process.stderr.isTTY === true;
  const machine = { cores: countCores(), terminal, environment: process.env };
  const checked = planFromFlags(flags, machine, createProcessSources(), 'kube-dns');
  const all = [...problems, ...(checked.kind === 'bad' ? checked.problems : [])];
  for (const problem of all) process.stderr.write(`portolan kube-dns: ${describeProblem(problem)}\n`);
  if (checked.kind === 'bad' || all.length > 0) return 2;
  for (const note of notes) process.stderr.write(`portolan kube-dns: ${note}\n`);
  try {
    await runServer(checked.value, 'kube-dns');
    return 0;
  } catch (error) {
    if (error instanceof ExitError) return error.code;
    throw error;
  }
}

function helpText(): string {
  const flags = KUBE_DNS_FLAGS.map(({ name, argument, means }) => {
    const written = `--${name}${argument === undefined ? '' : ` ${argument}`}`;
    return `  ${written.padEnd(33)} ${means}\n`;
  });
  const known = new Set(KUBE_DNS_FLAGS.map(({ name }) => name));
  const further = SERVE_FLAG_SHAPES.filter(({ name }) => !known.has(name)).map(({ name }) => `--${name}`);
  return `Usage: portolan kube-dns [flags]

Serves the zone of a Kubernetes cluster as kube-dns does.

${flags.join('')}  ${'--v LEVEL'.padEnd(33)} from 4 on, everything is logged
  ${'--logtostderr, ...'.padEnd(33)} the other flags of klog: taken, without effect
  ${'--help'.padEnd(33)} print this

Flags may be written with one dash or two. Names outside the zone go to --nameservers, else to upstreamNameservers of
the ConfigMap, else to the servers of /etc/resolv.conf.

From the environment: PROMETHEUS_PORT, where metrics are told under the names of SkyDNS, at PROMETHEUS_PATH (default:
/metrics) and with PROMETHEUS_NAMESPACE and PROMETHEUS_SUBSYSTEM (default: skydns) in front.

Flags of 'portolan serve' are taken too, as its --help tells of them:
${wrap(further)}`;
}

const LINE = 118;

function wrap(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > LINE) lines.push(`  ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return `${lines.join('\n')}\n`;
}
