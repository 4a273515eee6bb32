/**
 * ConfigMaps of kube-dns, each with the equivalent Corefile; CoreDNS 1.14.7 starts with all of them.
 */
import { convertKubeDnsConfig } from '@portolan/frontends/coredns/settings/from-kube-dns.ts';
import { describe, expect, it } from 'vitest';
import { readRecording } from '../support/recordings.ts';

interface ConfigMapCase {
  readonly name: string;
  readonly about: string;
  readonly data: Readonly<Record<string, string>>;
  readonly corefile: string;
  readonly warnings: readonly string[];
}

const cases = readRecording<ConfigMapCase>('test/corefile/kube-dns-config-maps.jsonl');

describe('a ConfigMap of kube-dns', () => {
  it('is one of 18', () => expect(cases).toHaveLength(18));

  for (const { name, about, data, corefile, warnings } of cases)
    it(`${name}: ${about}`, () => {
      const converted = convertKubeDnsConfig(new Map(Object.entries(data)));
      expect(converted).toEqual({ corefile, notices: warnings });
    });
});
