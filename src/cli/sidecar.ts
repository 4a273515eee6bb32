/**
 * `portolan sidecar`: the sidecar of kube-dns, with its command line.
 */
import { describeProblem } from '../config/problem.ts';
import { readSidecarFlags } from '../config/sidecar/sidecar-flags.ts';
import { systemClock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { writeProcessMetrics } from '../roles/sidecar/process-metrics.ts';
import { Sidecar } from '../roles/sidecar/sidecar.ts';
import { runRole } from './run-role.ts';
import { VERSION } from './version.ts';

const HELP = `Usage: portolan sidecar [flags]

Probes DNS servers, and tells by HTTP whether they answer: /healthcheck/LABEL, /healthz, /metrics.

  --probe LABEL,SERVER,NAME[,SECONDS[,TYPE]]
                                  ask SERVER for NAME every SECONDS (default: 5), once or several times; port 53 unless
                                  it is named; TYPE is ANY, A, AAAA or SRV (default: ANY)
  --dnsmasq-addr ADDRESS          the dnsmasq whose counts are read (default: 127.0.0.1)
  --dnsmasq-port PORT             its port (default: 53)
  --dnsmasq-poll-interval-ms MS   how often they are read (default: 5000)
  --prometheus-addr ADDRESS       address to listen on for HTTP (default: 0.0.0.0)
  --prometheus-port PORT          port to listen on for HTTP (default: 10054)
  --prometheus-path PATH          where the metrics are (default: /metrics)
  --prometheus-namespace WORD     what the names of metrics begin with (default: kubedns)
  --v LEVEL                       from 4 on, every failed probe is logged
  --logtostderr, ...              the other flags of klog: taken, without effect
  --version                       print the version
  --help                          print this

Flags may be written with one dash or two.
`;

/** @param words what stands behind the command @returns the exit code */
export async function runSidecar(words: readonly string[]): Promise<number> {
  const reading = readSidecarFlags(words);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'version':
      process.stdout.write(`Portolan version ${VERSION}, in place of sidecar 1.26\n`);
      return 0;
    case 'bad':
      for (const problem of reading.problems)
        process.stderr.write(`portolan sidecar: ${describeProblem(problem)}\n`);
      return 2;
    case 'good': {
      const { plan, logLevel } = reading;
      const furtherMetrics = () => writeProcessMetrics(VERSION);
      const create = (log: Log) => new Sidecar(plan, { clock: systemClock, log, furtherMetrics });
      return await runRole({ command: 'sidecar', logLevel, create });
    }
  }
}
