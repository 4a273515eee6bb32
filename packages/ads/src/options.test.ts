import { BLOCK, makeUse } from '@portolan/testing/uses.ts';
import { expect, it } from 'vitest';
import { readOptions } from './options.ts';

const read = (...lines: readonly string[]) => readOptions([makeUse('ads', ...lines)], BLOCK);

it('has the defaults of the original', () => {
  expect(read('block ads.example')).toEqual({
    blocked: { lists: [], names: ['ads.example'], patterns: [] },
    permitted: { lists: [], names: [], patterns: [] },
    target: { ipv4: '127.0.0.1', ipv6: '::1' },
    logs: false,
    fetchInterval: 86_400_000,
    store: undefined,
  });
});

it('reads all properties', () => {
  const { blocked, permitted, ...others } = read(
    'blacklist file:///lists/a%20b',
    'blacklist /lists/hosts',
    'blacklist https://lists.example/hosts?x=1',
    'whitelist http://lists.example/good',
    'block Bücher.example.',
    'permit www.example',
    'block-regex ^ads[0-9]+',
    'permit-regex ^good',
    'target 192.0.2.1',
    'target-ipv6 2001:db8::1',
    'auto-update-interval 1h30m',
    'list-store store.json',
    'log',
  );
  expect(blocked).toEqual({
    lists: [
      { kind: 'file', place: '/lists/a b' },
      { kind: 'file', place: '/root//lists/hosts' },
      { kind: 'http', place: 'https://lists.example/hosts?x=1' },
    ],
    names: ['xn--bcher-kva.example'],
    patterns: [/^ads[0-9]+/],
  });
  expect(permitted).toEqual({
    lists: [{ kind: 'http', place: 'http://lists.example/good' }],
    names: ['www.example'],
    patterns: [/^good/],
  });
  expect(others).toEqual({
    target: { ipv4: '192.0.2.1', ipv6: '2001:db8::1' },
    logs: true,
    fetchInterval: 5_400_000,
    store: '/root/store.json',
  });
  expect(read('block a.example', 'nxdomain', 'disable-auto-update')).toMatchObject({
    target: 'nxdomain',
    fetchInterval: undefined,
  });
});

it.each([
  ['', 'no list, and no name to block'],
  ['permit www.example', 'no list, and no name to block'],
  ['default-lists', 'default-lists is not built into Portolan'],
  ['strict-default-lists', 'strict-default-lists is not built into Portolan'],
  ['blacklist', "Wrong argument count or unexpected line ending after 'blacklist'"],
  ['blacklist hosts.txt', 'not a URL: hosts.txt'],
  ['blacklist ftp://lists.example/a', 'Invaild URL. The scheme ftp is not supported!'],
  ['blacklist file://host/a', 'Invaild URL. The scheme file is not supported!'],
  ['block a..b', 'not a name: a..b'],
  ['block-regex (', 'Invalid regular expression'],
  ['target ::1', 'Invalid target IP specified'],
  ['target-ipv6 192.0.2.1', 'Invalid target IP specified'],
  ['auto-update-interval 1s', 'not a duration between 1m and 596h: 1s'],
  ['auto-update-interval soon', 'not a duration between 1m and 596h: soon'],
  ['log yes', "Wrong argument count or unexpected line ending after 'log'"],
  ['colour blue', "Unknown property 'colour'"],
])('refuses %s', (line, message) => {
  expect(() => (line === '' ? read() : read(line))).toThrow(message);
});

it('has one list-store, and one use in a block', () => {
  expect(() => read('block a.example', 'list-store a', 'list-store b')).toThrow('Only one filepath');
  const twice = [makeUse('ads', 'block a.example'), makeUse('ads', 'block b.example')];
  expect(() => readOptions(twice, BLOCK)).toThrow('only be used once per Server Block');
});
