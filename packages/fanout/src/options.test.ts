import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { BLOCK, makeUse } from '@portolan/testing/uses.ts';
import { expect, it } from 'vitest';
import { readOptions } from './options.ts';

const block = { ...BLOCK, resolve: (path: string) => (path.startsWith('/') ? path : `/etc/${path}`) };
const read = (args: string, ...lines: readonly string[]) =>
  readOptions([makeUse(args === '' ? 'fanout' : `fanout ${args}`, ...lines)], block);

it('reads all properties', async () => {
  const folder = await makeTemporaryFolder();
  const file = await folder.write('except', 'a.test\n\nB.test\n');
  expect(
    read(
      'Example.org 192.0.2.1:53 dns://192.0.2.2 /etc/resolv.conf',
      'tls c.pem k.pem ca.pem',
      'tls-server dns.test',
      'worker-count 2',
      'policy Weighted-Random',
      'weighted-random-server-count 1',
      'weighted-random-load-factor 50 100',
      'network TCP',
      'except x.test',
      `except-file ${file}`,
      'attempt-count 0',
      'timeout 1m1.5s',
      'RACE',
    ),
  ).toEqual({
    from: 'example.org.',
    servers: ['192.0.2.1:53', '192.0.2.2', '/etc/resolv.conf'],
    except: ['x.test.', 'a.test.', 'b.test.'],
    workers: 2,
    policy: 'weighted-random',
    serverCount: 1,
    weights: [50, 100],
    network: 'tcp',
    attempts: 0,
    timeout: 61_500,
    isRace: true,
    tls: {
      certificate: '/etc/c.pem',
      key: '/etc/k.pem',
      authorities: '/etc/ca.pem',
      serverName: 'dns.test',
    },
  });
});

it.each([
  ['', [], "Wrong argument count or unexpected line ending after 'fanout'"],
  ['.', [], "Wrong argument count or unexpected line ending after '.'"],
  ['. 192.0.2.1', ['worker-count 1'], 'worker count should be more or equal 2'],
  ['. 192.0.2.1', ['worker-count 33'], 'worker count more then max value: 32'],
  ['. 192.0.2.1', ['policy best'], 'unknown policy "best"'],
  ['. 192.0.2.1', ['network quic'], 'unknown network protocol: quic'],
  ['. 192.0.2.1', ['timeout soon'], 'time: invalid duration "soon"'],
  ['. 192.0.2.1', ['weighted-random-load-factor 0'], 'load-factor 0 is not 1 to 100'],
  ['. 192.0.2.1', ['weighted-random-load-factor 1 2'], 'load-factor params count must be the same'],
  ['. 192.0.2.1', ['except'], "Wrong argument count or unexpected line ending after 'except'"],
  ['. 192.0.2.1', ['except-file /nosuch/file'], 'ENOENT'],
  ['. 192.0.2.1', ['max-fails 2'], "Unknown property 'max-fails'"],
])('refuses fanout %s %j', (args, lines, message) => {
  expect(() => read(args, ...lines)).toThrow(message);
});

it('may be used once', () => {
  const use = makeUse('fanout . 192.0.2.1');
  expect(() => readOptions([use, use], block)).toThrow('this plugin can only be used once per Server Block');
});
