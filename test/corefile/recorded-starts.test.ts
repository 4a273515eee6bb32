/**
 * Corefiles that CoreDNS 1.14.7 was started with: we refuse the ones it refuses, with its messages, and accept the others.
 */
import { describeCorefileProblem } from '@portolan/corefile/syntax/findings.ts';
import { findDefinition } from '@portolan/frontends/plugins/registry.ts';
import { describe, expect, it } from 'vitest';
import { readRecording } from '../support/recordings.ts';
import { fillPlaceholders, type RecordedStart, readRecorded } from './read-recorded.ts';

const STARTS = readRecording<RecordedStart>('test/corefile/recorded-starts.jsonl');

/** Faults that show only when the server starts: ports, the API server, names of upstreams. */
const FOUND_AT_START = new Set([
  'dns-port-in-use',
  'forward-host-name-unknown',
  'health-port-in-use',
  'k8s-no-kubeconfig',
  'loop-detected',
  'loop-two-servers',
  'loop-zone',
  'setup-kubernetes-1',
  'setup-kubernetes-2',
  'setup-kubernetes-24',
  'setup-kubernetes-27',
  'setup-kubernetes-37',
  'setup-kubernetes-38',
  'start-bind-foreign-address',
]);

/** What is said instead, where CoreDNS names a server of the machine it ran on, does not name the plugin, or ends with a panic. */
const SAID_INSTEAD: Readonly<Record<string, string>> = {
  'setup-forward-7': 'plugin/forward: failed to resolve "ftp": lookup ftp: no such host',
  'setup-file-5': 'plugin/file: reload interval can not be negative: -1s',
  'setup-loadbalance-7':
    "plugin/loadbalance: {DIR}/Corefile:3 - Error during parsing: invalid reload duration '-1s'",
  'proxyproto-start-option':
    "plugin/proxyproto: {DIR}/Corefile:3 - Error during parsing: unknown option 'trust'",
};

/** Plugins of others for CoreDNS that are built in here. */
const BUILT_IN = new Set(['start-unknown-kubernetai']);

describe('a Corefile that was recorded', () => {
  for (const start of STARTS) {
    const reading = readRecorded(start);
    const problems = reading.kind === 'bad' ? reading.problems : [];
    const messages = problems.map(({ message }) => message);
    const [unbuilt] = messages.filter((message) => message.includes('not built into Portolan'));
    const expected = SAID_INSTEAD[start.name] ?? start.output;
    if (unbuilt !== undefined && messages[0] === unbuilt)
      it(`${start.name}: names what is not built`, () => {
        const plugin = /^plugin\/(\w+): not built into Portolan$/.exec(unbuilt)?.[1];
        const part = /^plugin\/loadbalance: (?:weighted|prefer) is not built into Portolan$/;
        const listener = /^cannot serve (?:quic|https3):\/\/\S+ - \w+ listeners are not built into Portolan$/;
        if (plugin === undefined) expect(part.test(unbuilt) || listener.test(unbuilt)).toBe(true);
        else expect(findDefinition(plugin)).toBeUndefined();
      });
    else if (expected === undefined || FOUND_AT_START.has(start.name) || BUILT_IN.has(start.name))
      it(`${start.name}: is taken`, () => expect(messages).toEqual([]));
    else
      it(`${start.name}: is refused`, () => {
        expect(messages[0]).toBe(fillPlaceholders(expected));
        for (const problem of problems)
          expect(describeCorefileProblem(problem)).toMatch(/^(?:.|\n)+\n {2}[^:\n]+:\d+: [^\n]/);
      });
  }

  it('is complete', () => {
    expect(STARTS).toHaveLength(766);
    expect(STARTS.filter(({ output }) => output !== undefined)).toHaveLength(598);
  });
});
