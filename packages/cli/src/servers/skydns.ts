/**
 * `portolan skydns`: the command line and the environment of SkyDNS.
 */
import { readSkyDnsFlags, SKYDNS_FLAGS } from '@portolan/frontends/skydns/settings/skydns-flags.ts';
import { readSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import type { RunCommand } from '../grammar/command.ts';
import { helpText } from '../grammar/help-text.ts';
import { printProblems, printVersion } from '../process/print-problems.ts';
import { runSkyDnsServer } from './run-skydns.ts';

export const runSkyDns: RunCommand = async (words, command) => {
  const reading = readSkyDnsFlags(words, process.env);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText(command, SKYDNS_FLAGS, HELP));
      return 0;
    case 'version':
      printVersion('SkyDNS');
      return 0;
    case 'flags': {
      const settings = readSettings(reading.read, process.env);
      if (settings.kind === 'good') return await runSkyDnsServer(settings.settings);
      printProblems('skydns', settings.problems);
      return 2;
    }
  }
};

const HELP = {
  about: 'Answers names from the keys of an etcd, as SkyDNS does, and forwards all others.',
  notes: `Names in parentheses are of environment variables. PROMETHEUS_PORT, PROMETHEUS_PATH, PROMETHEUS_NAMESPACE and
PROMETHEUS_SUBSYSTEM open the metrics of SkyDNS. The JSON of the key config in etcd wins over the flags.`,
};
