/**
 * `portolan healthz`: the exechealthz of older pods, with its command line.
 */
import { readHealthzFlags } from '../config/healthz/healthz-flags.ts';
import { describeProblem } from '../config/problem.ts';
import { systemClock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { Healthz } from '../roles/healthz/healthz.ts';
import { runRole } from './run-role.ts';
import { VERSION } from './version.ts';

const HELP = `Usage: portolan healthz [flags]

Runs commands, and answers by HTTP with 200 or 503 by their last results.

  -cmd COMMAND        run by /bin/sh; exit code 0 means healthy (default: echo healthz)
  -url PATH           the path that answers for the command in the same place (default: /healthz)
  -port PORT          port to listen on for HTTP (default: 8080)
  -period DURATION    how often commands are run (default: 2s)
  -latency DURATION   a result older than this means unhealthy (default: 30s)
  -timeout DURATION   a command that runs longer is killed (default: that of -latency)
  -output             answer with what the command printed, instead of ok
  -quiet              log only what is wrong
  -v LEVEL            from 4 on, every run of a command is logged
  -logtostderr, ...   the other flags of klog: taken, without effect
  -version            print the version
  -help               print this

-cmd and -url may be given several times, in pairs. Flags may be written with one dash or two.
`;

/** @param words what stands behind the command @returns the exit code */
export async function runHealthz(words: readonly string[]): Promise<number> {
  const reading = readHealthzFlags(words);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'version':
      process.stdout.write(`Portolan version ${VERSION}, in place of exechealthz\n`);
      return 0;
    case 'bad':
      for (const problem of reading.problems)
        process.stderr.write(`portolan healthz: ${describeProblem(problem)}\n`);
      return 2;
    case 'good': {
      const { plan, logLevel } = reading;
      const create = (log: Log) => new Healthz(plan, { clock: systemClock, log });
      return await runRole({ command: 'healthz', logLevel, create });
    }
  }
}
