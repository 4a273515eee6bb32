import { describe, expect, it } from 'vitest';
import { convertKubeDnsConfig } from './from-kube-dns.ts';
import { readCorefile } from './read-corefile.ts';

const convert = (data: Readonly<Record<string, string>>) =>
  convertKubeDnsConfig(new Map(Object.entries(data)));

describe('convertKubeDnsConfig', () => {
  it('drops a stub domain without servers, which forward cannot have', () => {
    const { corefile, notices } = convert({ stubDomains: '{"a.test": [], "b.test": ["10.0.0.1"]}' });
    expect(corefile).not.toContain('a.test');
    expect(corefile).toContain('b.test:53 {');
    expect(notices).toEqual([
      'stubDomains: "a.test" has no servers, dropped: it had no effect in kube-dns too',
    ]);
  });

  it('writes IPv6 servers with brackets only before a port', () => {
    const { corefile } = convert({
      stubDomains: '{"b.test": ["2001:db8::1", "[2001:db8::2]:5353", "10.0.0.1:53"]}',
    });
    expect(corefile).toContain('forward . 2001:db8::1 [2001:db8::2]:5353 10.0.0.1\n');
  });

  it('says of each fault that it made the whole ConfigMap void', () => {
    expect(convert({ stubDomains: '{"a.test": ["x:y"]}', federations: 'x' }).notices).toEqual([
      'stubDomains: "x:y" is not a server: the ConfigMap was without effect in kube-dns too',
      'federations: "x" is not a name and its domain: the ConfigMap was without effect in kube-dns too',
    ]);
  });

  it('makes a Corefile that has no problem', () => {
    const { corefile } = convert({
      stubDomains: '{"b.test": ["10.0.0.1", "dns.example"]}',
      upstreamNameservers: '["8.8.8.8"]',
    });
    const reading = readCorefile(corefile, {
      file: 'Corefile',
      profile: '1.14',
      defaultPort: 53,
      environment: {},
      files: { read: () => '', findKind: () => undefined, list: () => [] },
      interfaces: new Map(),
    });
    expect(reading).toMatchObject({ kind: 'good' });
  });
});
