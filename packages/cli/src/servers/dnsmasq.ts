/**
 * `portolan dnsmasq`: dnsmasq's command line, with dnsmasq's exit codes.
 */
import type { DnsmasqPlan } from '@portolan/frontends/dnsmasq/settings/dnsmasq-plan.ts';
import { EXIT } from '@portolan/frontends/dnsmasq/settings/exit-codes.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { answerWithoutServing } from './answer-dnsmasq-options.ts';
import { releaseParent, startDetached, takeDetachedMark } from './detach.ts';
import { createProcessSources } from './dnsmasq-sources.ts';
import { runDnsmasqServer } from './run-dnsmasq.ts';

/** @param words the arguments after the command @returns the exit code */
export async function runDnsmasq(words: readonly string[]): Promise<number> {
  const isDetached = takeDetachedMark();
  const sources = createProcessSources();
  const reading = readDnsmasqOptions(words, sources);
  const code = answerWithoutServing('dnsmasq', reading);
  if (code !== undefined || reading.kind !== 'good') return code ?? EXIT.OTHER;
  const { plan, notes } = reading;
  if (plan.process.mode !== 'background') return await runDnsmasqServer({ command: 'dnsmasq', plan, notes });
  if (isDetached)
    return await runDnsmasqServer({
      command: 'dnsmasq',
      plan,
      notes,
      accompany: () => ({ serve: releaseParent }),
    });
  return await startDetached({
    words: ['dnsmasq', ...words],
    standardInput: sources.standardInput,
    keepsStandardError: keepsStandardError(plan),
  });
}

function keepsStandardError({ log }: DnsmasqPlan): boolean {
  return log.to.kind === 'standard-error';
}
