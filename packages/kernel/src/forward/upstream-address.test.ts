import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUpstream, parseUpstream, UpstreamAddressError } from './upstream-address.ts';

describe('parseUpstream', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1:53'],
    ['192.0.2.1#5353', '192.0.2.1:5353'],
    ['192.0.2.1:5353', '192.0.2.1:5353'],
    ['2001:DB8::1', '[2001:db8::1]:53'],
    ['2001:db8::1#5353', '[2001:db8::1]:5353'],
    ['[2001:db8::1]', '[2001:db8::1]:53'],
    ['[2001:db8::1]:5353', '[2001:db8::1]:5353'],
    ['[2001:db8::1]#5353', '[2001:db8::1]:5353'],
    ['fe80::1%eth0', '[fe80::1%eth0]:53'],
    ['fe80::1%eth0#54', '[fe80::1%eth0]:54'],
    ['dns.example', 'dns.example:53'],
    ['dns.example.#54', 'dns.example:54'],
    ['dns://192.0.2.1', '192.0.2.1:53'],
    ['tcp://192.0.2.1', 'tcp://192.0.2.1:53'],
    ['TLS://192.0.2.1', 'tls://192.0.2.1:853'],
    ['tls://192.0.2.1#dns.example', 'tls://192.0.2.1:853#dns.example'],
    ['tls://[2001:db8::1]:8853#dns.example', 'tls://[2001:db8::1]:8853#dns.example'],
    ['tls://dns.example', 'tls://dns.example:853#dns.example'],
    ['https://192.0.2.1#dns.example', 'https://192.0.2.1:443#dns.example'],
    ['https://dns.example:8443', 'https://dns.example:8443#dns.example'],
    ['192.0.2.1@10.0.0.1', '192.0.2.1:53@10.0.0.1'],
    ['192.0.2.1#54@10.0.0.1#4000', '192.0.2.1:54@10.0.0.1#4000'],
    ['192.0.2.1@eth1', '192.0.2.1:53@eth1'],
    ['192.0.2.1@eth1@10.0.0.1', '192.0.2.1:53@eth1@10.0.0.1'],
  ])('reads %s', (text, formatted) => {
    expect(formatUpstream(parseUpstream(text))).toBe(formatted);
  });

  it.each([
    ['', 'no address'],
    ['192.0.2', 'a malformed address'],
    ['192.0.2.256', 'a malformed address'],
    ['2001:db8::1::2', 'a malformed address'],
    ['192.0.2.1:', 'a port that is not 1 to 65535'],
    ['192.0.2.1:0', 'a port that is not 1 to 65535'],
    ['192.0.2.1#65536', 'a port that is not 1 to 65535'],
    ['192.0.2.1#53#54', 'more than one port'],
    ['2001:db8::1#53#54', 'more than one port'],
    ['[192.0.2.1]:53', 'brackets around what is no IPv6 address'],
    ['[2001:db8::1', 'unbalanced brackets or more than one port'],
    ['quic://192.0.2.1', 'a scheme that is not dns, tcp, tls or https'],
    ['.', 'neither an address nor a name'],
    ['two words', 'neither an address nor a name'],
    ['tls://192.0.2.1#', 'no name behind #'],
    ['192.0.2.1@10.0.0.1#0', 'a port that is not 1 to 65535'],
    ['192.0.2.1@eth0@eth1', 'a source that is no address'],
    ['192.0.2.1@an-interface-of-more-than-15', 'a source that is no address or interface'],
    ['192.0.2.1@a@b@c', 'more than an interface and an address behind @'],
  ])('refuses %j: %s', (text, why) => {
    expect(() => parseUpstream(text)).toThrow(UpstreamAddressError);
    expect(() => parseUpstream(text)).toThrow(why);
  });

  it('reads what it formats, and refuses all else with its own error', () => {
    const parts = fc.constantFrom(
      '192.0.2.1',
      '2001:db8::1',
      'dns.example',
      'tls://',
      'tcp://',
      '#53',
      ':53',
      '[',
      ']',
      '@',
      '%',
      'x',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(parts, { maxLength: 6 }).map((words) => words.join('')),
          fc.string(),
        ),
        (text) => {
          try {
            const address = parseUpstream(text);
            expect(parseUpstream(formatUpstream(address))).toEqual(address);
          } catch (error) {
            expect(error).toBeInstanceOf(UpstreamAddressError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
